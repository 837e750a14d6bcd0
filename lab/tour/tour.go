// Package tour is the demonstration of `make lab`. A lab comes up, and a machine that was off with an empty disk is
// taken to its own operating system. The screen shows every stage with its time. The lab stays up for further trials.
//
// It only watches and asks, over the API an operator has.
package tour

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/osimage"
	"github.com/ferrite-metal/ferrite/lab/progress"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/site"
)

// Options are the options of a tour.
type Options struct {
	OS       string    // tiny or debian
	Firmware string    // uefi or bios
	Bin      string    // folder with the programs and ramdisk/
	Dir      string    // of the lab
	Accel    string    // tcg or kvm
	Out      io.Writer // of the stages
	// Personality is the personality of the machines' BMCs.
	Personality redfish.Personality
}

// DefaultDir is where a lab lives when nothing else is said: `up` and `down`
// must agree on it.
func DefaultDir() string { return filepath.Join(os.TempDir(), "ferrite-lab") }

// Run brings the lab up, gives the tour, and stays until ctx ends; then it
// leaves nothing behind.
func Run(ctx context.Context, o Options) (err error) {
	t := &tour{Options: o, start: time.Now()}
	t.line = progress.New(o.Out, func(text string) string { return t.timed("", "    "+text) })
	defer t.line.End()
	img, err := t.prepare(ctx)
	if err != nil {
		return err
	}
	logs, err := os.Create(filepath.Join(o.Dir, "lab.log"))
	if err != nil {
		return err
	}
	defer logs.Close()
	t.stage("lab", "bringing up a network namespace, two machines with their BMCs, and a conductor")
	t.site, err = site.New(ctx, t.config(img, logs))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.site.Close()) }()
	url, err := t.site.Forward("127.0.0.1:0", sitePort)
	if err != nil {
		return err
	}
	if err := t.site.Announce("http://" + url); err != nil {
		return err
	}
	if err := t.life(ctx, img); err != nil {
		return fmt.Errorf("%w (logs and consoles: %s)", err, o.Dir)
	}
	t.farewell("http://" + url)
	<-ctx.Done()
	t.stage("end", "taking the lab down")
	return nil
}

const sitePort = 6385

// tour is one of them, under way.
type tour struct {
	Options
	start time.Time
	site  *site.Site
	image site.Image // the image to deploy
	shown time.Time  // of the last boot stage
	line  *progress.Line

	console atomic.Value // last line of a machine's console: a string
	waiting atomic.Bool  // for an operating system: its console is shown
}

// stage prints a stage, with the seconds since the start.
func (t *tour) stage(what, format string, args ...any) {
	t.line.Set("")
	t.line.Print(t.timed(what, fmt.Sprintf(format, args...)))
}

// timed is the line of a stage.
func (t *tour) timed(what, text string) string {
	return fmt.Sprintf("%6.1f s  %-9s %s", time.Since(t.start).Seconds(), what, text)
}

// prepare makes the lab's folder and image.
func (t *tour) prepare(ctx context.Context) (osimage.Image, error) {
	if os.Geteuid() != 0 {
		return osimage.Image{},
			errors.New("a lab needs root, for a network namespace of its own; nothing else of this host is touched")
	}
	if st, err := lab.ReadState(t.Dir); !errors.Is(err, fs.ErrNotExist) {
		return osimage.Image{},
			fmt.Errorf("lab %s is in %s already: reach it with `export FERRITE_URL=%s`, end it with `make lab-down`, "+
				"or take another folder with --dir", st.ID, t.Dir, st.URL)
	}
	if err := os.MkdirAll(t.Dir, 0o755); err != nil {
		return osimage.Image{}, err
	}
	cache, err := buildcache.CacheDir()
	if err != nil {
		return osimage.Image{}, err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	var img osimage.Image
	switch t.OS {
	case "tiny":
		t.stage("image", "making a tiny operating system (seconds; cached)")
		img, err = osimage.Tiny(ctx, cache, "tiny", log)
	case "debian":
		t.stage("image", "making Debian with cloud-init (minutes the first time; cached)")
		img, err = osimage.Debian(buildcache.WithProgress(ctx, func(line string) { t.line.Set("%s", line) }), cache, log)
	default:
		err = fmt.Errorf("--os %q: it is tiny or debian", t.OS)
	}
	if err == nil && t.Firmware == string(qemu.BIOS) && !img.BIOS {
		err = fmt.Errorf("--os %s boots under UEFI only", t.OS)
	}
	return img, err
}

func (t *tour) config(img osimage.Image, logs io.Writer) site.Config {
	disk := int64(4096)
	if t.OS == "tiny" {
		disk = 1024
	}
	conf := lab.Config{
		Dir: t.Dir, ImagesDir: filepath.Dir(img.Qcow2),
		Log: slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		OnLine: func(_ string, line qemu.Line) {
			if strings.TrimSpace(line.Text) == "" {
				return
			}
			t.console.Store(line.Text)
			if t.waiting.Load() {
				t.line.Set("console: %s", line.Text)
			}
		},
	}
	for _, name := range []string{"metal-1", "metal-2"} {
		conf.Machines = append(conf.Machines, lab.MachineConfig{Spec: qemu.Spec{
			Name: name, Firmware: qemu.Firmware(t.Firmware), MemoryMB: memory[t.OS], Accel: qemu.Accel(t.Accel),
			Disks: []qemu.Disk{{SizeMB: disk}}, NICs: []qemu.NIC{{OptionROM: true}},
		}, Personality: t.Personality})
	}
	c := site.Config{
		Lab: conf, Ferrite: filepath.Join(t.Bin, "ferrite"),
		Kernel: filepath.Join(t.Bin, "ramdisk", "lab.vmlinuz"), Initrd: filepath.Join(t.Bin, "ramdisk", "lab.initramfs"),
	}
	return c
}

// memory is a machine's memory, in MiB: the agent works in 512, Debian itself wants more.
var memory = map[string]int{"tiny": 512, "debian": 1024}
