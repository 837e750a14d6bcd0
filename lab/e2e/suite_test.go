package e2e

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
	"github.com/ferrite-metal/ferrite/lab/osimage"
	"github.com/ferrite-metal/ferrite/lab/suitetest"
)

// The ramdisks by their profiles: of the lab, and of real servers.
const (
	profileLab   = "lab"
	profileMetal = "metal"
)

// shared holds the parts that all cases with one ramdisk share: programs, ramdisk, images.
type shared struct {
	ctx            context.Context // ends with a signal, or with the first failure under -failfast
	cancel         context.CancelFunc
	bin            string
	dir            string // of the cases
	images         string // folder the image servers serve
	cache          string // folder where images are kept from run to run
	tiny, other    osimage.Image
	kernel, initrd string
	figures        figures
}

// suites are the prepared parts, by the ramdisk's profile.
var suites = struct {
	sync.Mutex
	made map[string]*shared
}{made: map[string]*shared{}}

// suiteOf prepares the shared parts of the cases, at its first call.
func suiteOf(t testing.TB, profile string) *shared {
	t.Helper()
	suitetest.Need(t, "")
	if os.Geteuid() != 0 {
		t.Fatal("network namespaces need root: run the test as root")
	}
	suites.Lock()
	defer suites.Unlock()
	if s := suites.made[profile]; s != nil {
		return s
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	s, err := prepare(ctx, profile)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	s.ctx, s.cancel = ctx, cancel
	suites.made[profile] = s
	return s
}

// prepare finds the programs and makes the images.
func prepare(ctx context.Context, profile string) (*shared, error) {
	bin, err := filepath.Abs(*binFlag)
	if err != nil {
		return nil, err
	}
	s := &shared{bin: bin}
	s.kernel = filepath.Join(bin, "ramdisk", profile+".vmlinuz")
	s.initrd = filepath.Join(bin, "ramdisk", profile+".initramfs")
	if err := s.figures.sizes(s.kernel, s.initrd); err != nil {
		return nil, fmt.Errorf("%w; make it with: make ramdisk PROFILE=%s", err, profile)
	}
	if err := keepPromises(bin, profile); err != nil {
		return nil, err
	}
	if s.cache, err = buildcache.CacheDir(); err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	tiny := osimage.Tiny
	if profile == profileMetal {
		tiny = osimage.TinyStandard
	}
	say("images: making the tiny OS twice (cached)")
	if s.tiny, err = tiny(ctx, s.cache, "first", log); err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	if s.other, err = tiny(ctx, s.cache, "second", log); err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	if s.dir, err = os.MkdirTemp("", "ferrite-e2e-"); err != nil {
		return nil, err
	}
	s.images = filepath.Join(s.dir, "images")
	return s, s.publish(s.tiny, s.other)
}

// failed ends the cases under way, too, when one failure is to end them all.
func (s *shared) failed() {
	if f := flag.Lookup("test.failfast"); f != nil && f.Value.String() == "true" {
		s.cancel()
	}
}

// tidy removes the parts that are not needed any more; a failed case's folder stays.
func (s *shared) tidy() {
	_ = os.RemoveAll(s.images)
	_ = os.Remove(s.dir) // only when empty
}
