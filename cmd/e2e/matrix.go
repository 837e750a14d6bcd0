package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite-lab/lab"
	"github.com/ferrite-metal/ferrite/cmd/ferrite-lab/qemu"
	"github.com/ferrite-metal/ferrite/cmd/ferrite-lab/site"
)

// The machines of the matrix: room for the ramdisk of profile metal, unpacked,
// and a disk that is small, since some are overwritten from end to end.
const (
	metalMB      = 1024
	matrixDiskMB = 512
)

// matrixTime bounds the life of a machine of the matrix. It is four times what
// the slowest takes on two cores that emulate two machines.
const matrixTime = 8 * time.Minute

// matrix are the cases of -matrix: a machine of each combination of hardware,
// and those with what is odd about real ones.
func matrix() []testCase {
	var list []testCase
	for _, c := range combinations() {
		list = append(list, testCase{
			name: c.name(), why: "from enroll to its own OS, erased on the way", limit: matrixTime,
			run: func(ctx context.Context, b *bed) error { return b.wholeLife(ctx, c.spec()) },
		})
	}
	return append(list, oddMachines...)
}

// wholeLife takes a machine through all that a ramdisk does: inspection, erasing
// the whole disk, erasing its metadata, writing an image, and out of the way
// when the machine boots from its disk.
func (b *bed) wholeLife(ctx context.Context, spec qemu.Spec) error {
	return b.withMachine(ctx, spec, func(s *site.Site, m *lab.Machine) error {
		if err := b.erasedAndReady(ctx, s, m, nil); err != nil {
			return err
		}
		return deploy(ctx, s, m, image(s, b.tiny, b.tiny.RawZst), "first", "host-one")
	})
}

// withMachine runs a story on a site with one machine, whose ramdisk is kept
// running from one part to the next. A failure quotes the machine's console.
func (b *bed) withMachine(ctx context.Context, spec qemu.Spec, story func(*site.Site, *lab.Machine) error) (err error) {
	s, done, err := b.site(ctx, []qemu.Spec{spec}, "--fast-track")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := story(s, s.Machines[0]); err != nil {
		return fmt.Errorf("%w; the console's last lines:\n%s", err, lastLines(s.Machines[0]))
	}
	return nil
}

// erasedAndReady enrolls a machine, has it inspected and its disks erased, and
// brings it to available.
func (b *bed) erasedAndReady(ctx context.Context, s *site.Site, m *lab.Machine, properties map[string]any) error {
	more := map[string]any{}
	if properties != nil {
		more["properties"] = properties
	}
	if _, err := s.Enroll(ctx, m, more); err != nil {
		return fmt.Errorf("enroll: %w", err)
	}
	if _, err := s.Ask(ctx, m.Name, "manage", "manageable"); err != nil {
		return fmt.Errorf("manage: %w", err)
	}
	n, err := s.Ask(ctx, m.Name, "inspect", "manageable")
	if err != nil {
		return fmt.Errorf("inspect: %w", err)
	}
	if n.Properties["local_gb"] == nil || n.Properties["memory_mb"] == nil {
		return fmt.Errorf("inspect: expected a disk and memory, properties are %v", n.Properties)
	}
	if err := b.commands(ctx, s, "node clean "+m.Name+" --wait --step deploy.erase_devices"); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	if _, err := s.Ask(ctx, m.Name, "provide", "available"); err != nil {
		return fmt.Errorf("provide: %w", err)
	}
	return nil
}

// quoted is how many lines of a console say what went wrong.
const quoted = 25

func lastLines(m *lab.Machine) string {
	var text strings.Builder
	said := m.Console()
	for _, line := range said[max(len(said)-quoted, 0):] {
		fmt.Fprintf(&text, "  %d %6.1f s  %s\n", line.Start, line.After.Seconds(), line.Text)
	}
	return text.String()
}
