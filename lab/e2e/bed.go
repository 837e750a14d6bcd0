package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/network"
	"github.com/ferrite-metal/ferrite/lab/osimage"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
)

// shared is what all cases share: programs, ramdisk, images.
type shared struct {
	options
	dir            string // of the cases
	images         string // folder the image servers serve
	cache          string // folder where images are kept from run to run
	tiny, other    osimage.Image
	kernel, initrd string
	figures        figures
	outcomes       outcomes
}

// bed is where one case lies.
type bed struct {
	*shared
	name string
	dir  string

	laps  []lap
	since time.Time // when the last of them ended
}

// lap ends a part of the case, which began where the one before ended.
func (b *bed) lap(part string) {
	now := time.Now()
	b.laps, b.since = append(b.laps, lap{part, now.Sub(b.since)}), now
}

// prepare finds the programs and makes the images.
func prepare(ctx context.Context, o options) (*shared, error) {
	bin, err := filepath.Abs(o.bin)
	if err != nil {
		return nil, err
	}
	o.bin = bin
	s := &shared{options: o}
	s.kernel = filepath.Join(bin, "ramdisk", o.profile()+".vmlinuz")
	s.initrd = filepath.Join(bin, "ramdisk", o.profile()+".initramfs")
	if err := s.figures.sizes(s.kernel, s.initrd); err != nil {
		return nil, fmt.Errorf("%w; make it with: make ramdisk PROFILE=%s", err, o.profile())
	}
	if err := keepPromises(bin, o.profile()); err != nil {
		return nil, err
	}
	cache, err := buildcache.CacheDir()
	if err != nil {
		return nil, err
	}
	s.cache = cache
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	tiny := osimage.Tiny
	if o.matrix {
		tiny = osimage.TinyStandard
	}
	say("images: making the tiny OS twice (cached)")
	if s.tiny, err = tiny(ctx, cache, "first", log); err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	if s.other, err = tiny(ctx, cache, "second", log); err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	if s.dir, err = os.MkdirTemp("", "ferrite-e2e-"); err != nil {
		return nil, err
	}
	s.images = filepath.Join(s.dir, "images")
	return s, s.publish(s.tiny, s.other)
}

// publish puts images where the labs' image servers find them, under
// id/file.
func (s *shared) publish(images ...osimage.Image) error {
	for _, i := range images {
		dir := filepath.Join(s.images, i.ID)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for path := range i.SHA256 {
			to := filepath.Join(dir, filepath.Base(path))
			err := os.Link(path, to)
			if errors.Is(err, fs.ErrExist) {
				continue // another case's, and most likely the very file: written over, it would be empty
			}
			if err != nil {
				err = copyFile(path, to)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = out.ReadFrom(in)
	return errors.Join(err, out.Close())
}

// tidy removes what is not needed any more; a failed case's folder stays.
func (s *shared) tidy() {
	_ = os.RemoveAll(s.images)
	_ = os.Remove(s.dir) // only when empty
}

// runAll runs cases, so many at a time, and stops at the first that fails. The matrix
// reports the failure and goes on: machines that fail together have the cause in common.
func (s *shared) runAll(ctx context.Context, list []testCase, atOnce int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var first error
	slots := make(chan struct{}, atOnce)
	for _, c := range list {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			err := s.runOne(ctx, c)
			if err == nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			first = cmp.Or(first, err)
			if s.matrix {
				say("%v", err)
				return
			}
			cancel()
		})
	}
	wg.Wait()
	if first == nil {
		first = context.Cause(ctx)
	}
	return first
}

func (s *shared) runOne(ctx context.Context, c testCase) error {
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	start := time.Now()
	b := &bed{shared: s, name: c.name, dir: filepath.Join(s.dir, c.name), since: start}
	err := c.run(ctx, b)
	s.outcomes.add(outcome{c.name, b.dir, b.laps, time.Since(start), err})
	if err != nil {
		return fmt.Errorf("%s: %w (its logs and consoles: %s)", c.name, err, b.dir)
	}
	say("%s: ok in %.1f s", c.name, time.Since(start).Seconds())
	if !s.keep {
		return os.RemoveAll(b.dir)
	}
	return nil
}

// site brings up this case's lab and conductor. done takes it down and looks
// for anything left behind.
func (b *bed) site(ctx context.Context, machines []qemu.Spec, serve ...string) (s *site.Site, done func() error, err error) {
	return b.siteOf(ctx, machines, site.Config{Serve: append([]string{"--log-level", "debug"}, serve...)})
}

// siteOf brings up a lab with the conductor that c says.
func (b *bed) siteOf(ctx context.Context, machines []qemu.Spec, c site.Config) (s *site.Site, done func() error, err error) {
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return nil, nil, err
	}
	logFile, err := os.Create(filepath.Join(b.dir, "lab.log"))
	if err != nil {
		return nil, nil, err
	}
	conf := lab.Config{
		Dir: b.dir, ImagesDir: b.images, ID: fmt.Sprintf("e2e-%d-%s", os.Getpid(), b.name),
		Log: slog.New(slog.NewTextHandler(logFile, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, m := range machines {
		conf.Machines = append(conf.Machines, lab.MachineConfig{Spec: m})
	}
	c.Lab, c.Ferrite, c.Kernel, c.Initrd = conf, filepath.Join(b.bin, "ferrite"), b.kernel, b.initrd
	if s, err = site.New(ctx, c); err != nil {
		return nil, nil, errors.Join(err, logFile.Close())
	}
	return s, func() error {
		err := errors.Join(s.Close(), logFile.Close())
		left, sweepErr := network.Sweep(conf.ID)
		if len(left) > 0 {
			sweepErr = errors.Join(sweepErr, fmt.Errorf("the lab left behind: %v", left))
		}
		return errors.Join(err, sweepErr)
	}, nil
}

// say prints one line with the time of day, in one write: cases run beside
// each other.
func say(format string, args ...any) {
	fmt.Print(time.Now().Format("15:04:05 ") + fmt.Sprintf(format, args...) + "\n")
}
