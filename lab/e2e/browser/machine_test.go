//go:build uimachine

package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/network"
	"github.com/ferrite-metal/ferrite/lab/osimage"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/lab/suitetest"
)

const (
	// limit bounds one walk, on a host without KVM that has other work.
	limit = 45 * time.Minute
	// imageRate is how fast the image server sends, in bytes a second: a rate and the time left are then to be seen.
	imageRate = 2 << 20
	hostname  = "iron"
)

var binFlag = flag.String("bin", "../../../bin", "folder of the programs and ramdisk/")

// walk is the input of the script in the browser.
type walk struct {
	Hands    string `json:"hands"` // mouse or keyboard
	URL      string `json:"url"`   // of the conductor, on the loopback
	Name     string `json:"name"`
	BMC      string `json:"bmc"`
	User     string `json:"user"`
	Password string `json:"password"`
	MAC      string `json:"mac"`
	Image    string `json:"image"`   // URL
	Missing  string `json:"missing"` // URL that answers 404
	SHA256   string `json:"sha256"`
	Drive    string `json:"drive"`    // the config drive
	Hostname string `json:"hostname"` // which it gives the system
}

// TestMachineInBrowser has a new user take a machine from its BMC's address to an operating system and back, with a
// failed deploy in between. The browser is the only client of the conductor.
func TestMachineInBrowser(t *testing.T) {
	suitetest.Need(t, "ui-machine")
	if os.Geteuid() != 0 {
		t.Fatal("network namespaces need root: run the test as root")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cache, err := buildcache.CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	image, err := osimage.Tiny(ctx, cache, "tiny", slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	for _, hands := range strings.Split(env("HANDS", "mouse,keyboard"), ",") {
		t.Run(hands, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			began := time.Now()
			if err := run(ctx, hands, image); err != nil {
				t.Fatal(err)
			}
			fmt.Printf("ui-machine: %s ok in %.0f s\n", hands, time.Since(began).Seconds())
		})
	}
}

// run brings up a lab of one machine, walks through it, and wants nothing to be left.
func run(ctx context.Context, hands string, image osimage.Image) (err error) {
	bin, err := filepath.Abs(*binFlag)
	if err != nil {
		return err
	}
	dir, kernel, initrd, err := folder(filepath.Join(bin, "ramdisk"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	log, err := os.Create(filepath.Join(dir, "lab.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	conf := site.Config{
		Lab: lab.Config{
			ID: fmt.Sprintf("ui-%d-%s", os.Getpid(), hands), Dir: dir, ImagesDir: filepath.Dir(image.Qcow2),
			Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			Machines: []lab.MachineConfig{{Spec: qemu.Spec{
				Name: "metal-1", Firmware: qemu.UEFI, MemoryMB: 512, Disks: []qemu.Disk{{SizeMB: 1024}},
				NICs: []qemu.NIC{{OptionROM: true}},
			}}},
		},
		Ferrite: filepath.Join(bin, "ferrite"), Kernel: kernel, Initrd: initrd,
	}
	s, err := site.New(ctx, conf)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, conductorLog(s))
		}
		left, swept := network.Sweep(conf.Lab.ID)
		err = errors.Join(err, swept)
		if len(left) > 0 {
			err = errors.Join(err, fmt.Errorf("the lab left behind: %v", left))
		}
	}()
	defer func() { err = errors.Join(err, s.Close()) }()
	name := filepath.Base(image.Qcow2)
	if err := s.Images.SetFault(name, lab.ImageFault{Kind: lab.ImageSlow, Rate: imageRate}); err != nil {
		return err
	}
	address, err := s.Forward("127.0.0.1:0", site.APIPort)
	if err != nil {
		return err
	}
	m := s.Machines[0]
	drive, err := json.Marshal(map[string]any{"meta_data": map[string]any{"hostname": hostname}})
	if err != nil {
		return err
	}
	w := walk{Hands: hands, URL: "http://" + address, Name: m.Name, BMC: m.URL, User: m.Username, Password: m.Password,
		MAC: m.Spec().NICs[0].MAC, Image: s.ImagesURL + "/" + name, Missing: s.ImagesURL + "/tiny-old.qcow2",
		SHA256: image.SHA256[image.Qcow2], Drive: string(drive), Hostname: hostname}
	return browse(ctx, w)
}

// folder makes the folder of a lab. The ramdisk has a short path there, since pages show it.
func folder(ramdisk string) (dir, kernel, initrd string, err error) {
	if dir, err = os.MkdirTemp("", "ferrite-"); err != nil {
		return "", "", "", err
	}
	kernel, initrd = filepath.Join(dir, "lab.vmlinuz"), filepath.Join(dir, "lab.initramfs")
	for _, path := range []string{kernel, initrd} {
		from := filepath.Join(ramdisk, filepath.Base(path))
		if _, err := os.Stat(from); err != nil {
			return "", "", "", errors.Join(fmt.Errorf("%w; make it with: make ramdisk", err), os.RemoveAll(dir))
		}
		if err := os.Symlink(from, path); err != nil {
			return "", "", "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, kernel, initrd, nil
}

// browse runs the script, and ends it with its browser when ctx ends.
func browse(ctx context.Context, w walk) error {
	told, err := json.Marshal(w)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "node", "browser/machine.mjs")
	cmd.Dir = "../../../conductor/api/ui/web"
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Stdin = bytes.NewReader(told)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it closes its browser
	cmd.WaitDelay = 20 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("walk by %s: %w", w.Hands, err)
	}
	return nil
}

// conductorLog is the end of the conductor's log.
func conductorLog(s *site.Site) string {
	raw, err := os.ReadFile(s.Conductor.Log)
	if err != nil {
		return err.Error()
	}
	return string(raw[max(0, len(raw)-20_000):])
}

func env(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}
