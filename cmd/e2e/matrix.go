package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite-lab/lab"
	"github.com/ferrite-metal/ferrite/cmd/ferrite-lab/osimage"
	"github.com/ferrite-metal/ferrite/cmd/ferrite-lab/qemu"
	"github.com/ferrite-metal/ferrite/cmd/ferrite-lab/site"
)

// The machines of the matrix: room for the ramdisk of profile metal, unpacked,
// and a disk that is small, since some are overwritten from end to end.
const (
	metalMB      = 1024
	matrixDiskMB = 128
)

// metalHost is the hostname that the config drive tells the OS.
const metalHost = "host-one"

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
			run: func(ctx context.Context, b *bed) error { return b.plainLife(ctx, c.spec()) },
		})
	}
	return append(list, oddMachines...)
}

// metalLife is what a machine of the matrix goes through.
type metalLife struct {
	spec       qemu.Spec
	properties map[string]any // of the node
	image      osimage.Image
	file       string // of the image, in the format to be written
	disk       int    // which is to hold it
}

// plainLife is that of a machine without anything odd.
func (b *bed) plainLife(ctx context.Context, spec qemu.Spec) error {
	return b.wholeLife(ctx, metalLife{spec: spec, image: b.tiny, file: b.tiny.RawZst})
}

// wholeLife takes a machine through all that a ramdisk does: inspection, erasing
// the whole disk, erasing its metadata, writing an image, and out of the way
// when the machine boots from its disk. No state is taken for proof of any.
func (b *bed) wholeLife(ctx context.Context, l metalLife) error {
	return b.withMachine(ctx, l.spec, func(s *site.Site, m *lab.Machine) error {
		for _, part := range []struct {
			name string
			do   func(context.Context, *site.Site, *lab.Machine, metalLife) error
		}{
			{"inspect", b.inspect}, {"erase", b.erase}, {"clean", b.clean}, {"deploy", b.deploy}, {"boot", b.boot},
		} {
			if err := part.do(ctx, s, m, l); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
			b.lap(part.name)
		}
		return nil
	})
}

// inspect wants the inspection of a machine to find what it is made of.
func (b *bed) inspect(ctx context.Context, s *site.Site, m *lab.Machine, l metalLife) error {
	// What is to be gone later: firmware and ramdisk can make nothing of it.
	for _, d := range m.Spec().Disks {
		if err := fill(d); err != nil {
			return err
		}
	}
	more := map[string]any{}
	if l.properties != nil {
		more["properties"] = l.properties
	}
	if _, err := s.Enroll(ctx, m, more); err != nil {
		return err
	}
	if _, err := s.Ask(ctx, m.Name, "manage", "manageable"); err != nil {
		return err
	}
	if _, err := s.Ask(ctx, m.Name, "inspect", "manageable"); err != nil {
		return err
	}
	return found(ctx, s, m)
}

// erase wants every disk erased, says the signed report and show the disks.
func (b *bed) erase(ctx context.Context, s *site.Site, m *lab.Machine, _ metalLife) error {
	if err := b.commands(ctx, s, "node clean "+m.Name+" --wait --step deploy.erase_devices"); err != nil {
		return err
	}
	if err := gone(m); err != nil {
		return err
	}
	return testified(ctx, b.name, s, m)
}

// clean brings the machine to available by automated cleaning.
func (b *bed) clean(ctx context.Context, s *site.Site, m *lab.Machine, _ metalLife) error {
	_, err := s.Ask(ctx, m.Name, "provide", "available")
	return err
}

// deploy wants the image on its disk, and no other disk touched.
func (b *bed) deploy(ctx context.Context, s *site.Site, m *lab.Machine, l metalLife) error {
	if err := begin(ctx, s, m, image(s, l.image, l.file), metalHost); err != nil {
		return err
	}
	if _, err := s.Until(ctx, m.Name, "active"); err != nil {
		return err
	}
	for i, d := range m.Spec().Disks {
		if i == l.disk {
			if err := holds(d, l.image.Raw); err != nil {
				return err
			}
		} else if err := blank(d); err != nil {
			return err
		}
	}
	return nil
}

// boot wants the OS of the image to report, as what its config drive calls it.
func (b *bed) boot(ctx context.Context, s *site.Site, m *lab.Machine, l metalLife) error {
	return booted(ctx, s, m, l.image.ID, metalHost, time.Time{})
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
