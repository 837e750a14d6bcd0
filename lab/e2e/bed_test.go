package e2e

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/network"
	"github.com/ferrite-metal/ferrite/lab/osimage"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/site"
)

// bed is where one case lies.
type bed struct {
	*shared
	name string
	dir  string

	personality redfish.Personality // of the BMCs

	laps  []lap
	since time.Time // when the last of them ended
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

// site brings up this case's lab and conductor. done takes it down and looks
// for anything left behind.
func (b *bed) site(ctx context.Context, machines []qemu.Spec,
	serve ...string) (s *site.Site, done func() error, err error) {
	return b.siteOf(ctx, machines, site.Config{Serve: append([]string{"--log-level", "debug"}, serve...)})
}

// labID names the lab of this case.
func (b *bed) labID() string { return fmt.Sprintf("e2e-%d-%s", os.Getpid(), b.name) }

// siteOf brings up a lab with the conductor that c says.
func (b *bed) siteOf(ctx context.Context, machines []qemu.Spec,
	c site.Config) (s *site.Site, done func() error, err error) {
	conf, logFile, err := b.lab(machines)
	if err != nil {
		return nil, nil, err
	}
	c.Lab, c.Ferrite = conf, filepath.Join(b.bin, "ferrite")
	if c.Initrd == "" {
		c.Kernel, c.Initrd = b.kernel, b.initrd
	}
	if s, err = site.New(ctx, c); err != nil {
		return nil, nil, errors.Join(err, logFile.Close())
	}
	return s, func() error {
		err := errors.Join(s.Close(), logFile.Close())
		return errors.Join(err, swept(conf.ID))
	}, nil
}

// lab is the configuration of this case's lab, which logs to a file.
func (b *bed) lab(machines []qemu.Spec) (conf lab.Config, logFile *os.File, err error) {
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return conf, nil, err
	}
	if logFile, err = os.Create(filepath.Join(b.dir, "lab.log")); err != nil {
		return conf, nil, err
	}
	conf = lab.Config{
		Dir: b.dir, ImagesDir: b.images, ID: b.labID(),
		Log: slog.New(slog.NewTextHandler(logFile, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, m := range machines {
		conf.Machines = append(conf.Machines, lab.MachineConfig{Spec: m, Personality: b.personality})
	}
	return conf, logFile, nil
}

// swept is an error that names the remains of a lab.
func swept(id string) error {
	left, err := network.Sweep(id)
	if len(left) > 0 {
		err = errors.Join(err, fmt.Errorf("the lab left behind: %v", left))
	}
	return err
}

// say prints one line with the time of day, in one write: cases run beside
// each other.
func say(format string, args ...any) {
	fmt.Print(time.Now().Format("15:04:05 ") + fmt.Sprintf(format, args...) + "\n")
}
