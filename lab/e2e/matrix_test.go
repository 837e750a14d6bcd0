package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
)

// The machines of the matrix: room for the ramdisk of profile metal, unpacked,
// and a disk that is small, since some are overwritten from end to end.
const (
	metalMB      = 1024
	matrixDiskMB = 128
)

// matrixTime bounds the life of a machine of the matrix: ten times the duration on two cores that emulate two machines
// and do nothing else. Beside other work, five and a half minutes were seen.
const matrixTime = 15 * time.Minute

// matrix is a machine of each combination of hardware, from enroll to its own OS, erased on the way; machines with the
// oddities of real ones; and machines with a BMC inside.
func matrix() []testCase {
	var list []testCase
	for _, c := range combinations() {
		list = append(list, testCase{
			name: c.name(), limit: matrixTime,
			run: func(ctx context.Context, b *bed) error { return b.plainLife(ctx, c.spec()) },
		})
	}
	return slices.Concat(list, oddMachines, grubMachines, inBandMachines)
}

// plainLife is the life of a machine without oddities.
func (b *bed) plainLife(ctx context.Context, spec qemu.Spec) error {
	return b.wholeLife(ctx, metalLife{spec: spec, image: b.tiny, file: b.tiny.RawZst})
}

// wholeLife takes a machine through all that a ramdisk does: inspection, erasing
// the whole disk, erasing its metadata, writing an image, and out of the way
// when the machine boots from its disk.
func (b *bed) wholeLife(ctx context.Context, l metalLife) error {
	return b.withMachine(ctx, l.spec, func(s *site.Site, m *lab.Machine) error {
		for _, part := range []struct {
			name string
			do   func(context.Context, *bed, *site.Site, *lab.Machine) error
		}{
			{"inspect", l.inspect}, {"erase", l.erase}, {"clean", l.clean}, {"deploy", l.deploy}, {"boot", l.boot},
		} {
			if err := part.do(ctx, b, s, m); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
			b.lap(part.name)
		}
		return nil
	})
}

// withMachine runs a story on a site with one machine. Its ramdisk is kept running from one part to the next; serve are
// more options of the conductor. A failure quotes the machine's console.
func (b *bed) withMachine(ctx context.Context, spec qemu.Spec, story func(*site.Site, *lab.Machine) error,
	serve ...string) (err error) {
	s, done, err := b.site(ctx, []qemu.Spec{spec}, serve...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := story(s, s.Machines[0]); err != nil {
		return fmt.Errorf("%w; the console's last lines:\n%s", err, lastLines(s.Machines[0]))
	}
	return nil
}

// quoted is the number of console lines in an error.
const quoted = 25

func lastLines(m *lab.Machine) string {
	var text strings.Builder
	said := m.Console()
	for _, line := range said[max(len(said)-quoted, 0):] {
		fmt.Fprintf(&text, "  %d %6.1f s  %s\n", line.Start, line.After.Seconds(), line.Text)
	}
	return text.String()
}
