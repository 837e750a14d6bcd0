package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
)

// ferrite runs the command line client beside the conductor, as an operator does, and returns its output.
func (b *bed) ferrite(ctx context.Context, s *site.Site, args ...string) (string, error) {
	cmd := s.Network.Command(ctx, filepath.Join(b.bin, "ferrite"), args...)
	cmd.Env = append(os.Environ(), s.Env()...)
	var said, complaint strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &complaint
	if err := cmd.Run(); err != nil {
		return said.String(), fmt.Errorf("ferrite %s: %w: %s", strings.Join(args, " "), err,
			strings.TrimSpace(complaint.String()))
	}
	return said.String(), nil
}

// commands runs commands of the client one after the other. Blanks separate the words.
func (b *bed) commands(ctx context.Context, s *site.Site, lines ...string) error {
	for _, line := range lines {
		if _, err := b.ferrite(ctx, s, strings.Fields(line)...); err != nil {
			return err
		}
	}
	return nil
}

// steps writes a list of steps, YAML, to a file for --steps.
func (b *bed) steps(name, yaml string) (path string, err error) {
	path = filepath.Join(b.dir, name+".yaml")
	return path, os.WriteFile(path, []byte(yaml), 0o644)
}

// adopted enrolls a machine that has the tiny OS on its disk, and takes it
// over as it is. more is as for Enroll.
func (b *bed) adopted(ctx context.Context, s *site.Site, m *lab.Machine, more map[string]any) error {
	if err := install(b.tiny.Raw, m); err != nil {
		return err
	}
	if _, err := s.Enroll(ctx, m, more); err != nil {
		return fmt.Errorf("enroll: %w", err)
	}
	return b.commands(ctx, s, "node manage "+m.Name+" --wait", "node adopt "+m.Name+" --wait")
}

// install writes an image onto the disk of a machine that is off.
func install(raw string, m *lab.Machine) error {
	in, err := os.Open(raw)
	if err != nil {
		return err
	}
	defer in.Close()
	disk, err := os.OpenFile(m.Spec().Disks[0].Path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = disk.ReadFrom(in)
	return errors.Join(err, disk.Close())
}

// starts is how often the machine was started so far.
func starts(m *lab.Machine) int {
	last := 0
	for _, line := range m.Console() {
		last = max(last, line.Start)
	}
	return last
}

// osIsUp waits until the tiny OS says something on the console, in a later
// start of the machine than the one given.
func osIsUp(ctx context.Context, m *lab.Machine, after int) error {
	_, err := m.WaitLine(ctx, func(l qemu.Line) bool { return l.Start > after && strings.Contains(l.Text, "tinyos: ") })
	return err
}
