package e2e

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/osimage"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
)

// oddMachines are the machines of the matrix that have more than one of something, or something broken.
var oddMachines = []testCase{
	// Two cards, of which only the second is wired.
	{"two-cards", matrixTime, twoCards},
	// Two disks, and a root device hint that names the second.
	{"two-disks", matrixTime, twoDisks},
	// A disk with sectors of 4096 bytes, and an image made for such.
	{"large-sectors", matrixTime, largeSectors},
	// A disk that cannot be written in the middle: deploy failed, naming it.
	{"bad-write", matrixTime, badWrite},
	// A disk that cannot be written at its start: clean failed, naming it.
	{"bad-wipe", matrixTime, badWipe},
}

// odd is the machine they differ from.
func odd(firmware qemu.Firmware) qemu.Spec {
	return combination{firmware, qemu.BusSATA, "e1000e"}.spec()
}

func twoCards(ctx context.Context, b *bed) error {
	spec := odd(qemu.UEFI)
	spec.NICs = []qemu.NIC{{Model: "e1000e", OptionROM: true, Unplugged: true}, {Model: "e1000e", OptionROM: true}}
	return b.plainLife(ctx, spec)
}

// twoDisks wants the image on the disk that the hint names, and the other left
// as the erasing left it. SeaBIOS boots from the first disk alone.
func twoDisks(ctx context.Context, b *bed) error {
	spec := odd(qemu.UEFI)
	spec.Disks = append(spec.Disks, qemu.Disk{SizeMB: matrixDiskMB, Bus: qemu.BusNVMe, Serial: "THE-ROOT"})
	hint := map[string]any{"root_device": map[string]any{"serial": "s== THE-ROOT"}}
	return b.wholeLife(ctx, metalLife{spec: spec, properties: hint, image: b.tiny, file: b.tiny.Qcow2, disk: 1})
}

// largeSectors writes an image with a table and file systems that count in sectors of 4096 bytes. So does the config
// drive, which the conductor made for 512.
func largeSectors(ctx context.Context, b *bed) error {
	img, err := osimage.TinyLargeSectors(ctx, b.cache, "large", slog.New(slog.DiscardHandler))
	if err != nil {
		return fmt.Errorf("images: %w", err)
	}
	if err := b.publish(img); err != nil {
		return err
	}
	spec := combination{qemu.UEFI, qemu.BusNVMe, "virtio"}.spec()
	spec.Disks[0].LogicalSectorSize = 4096
	return b.wholeLife(ctx, metalLife{spec: spec, image: img, file: img.Raw})
}

// The sectors that bad disks cannot write, of 512 bytes: the partition table's,
// and one amid the kernel of the tiny OS.
const (
	tableSector  = 1
	kernelSector = 16 << 20 / 512
)

// badDisk are the words that the error about such a disk must have.
var badDisk = []string{"/dev/sda", "input/output error"}

func badWrite(ctx context.Context, b *bed) error {
	spec := odd(qemu.BIOS)
	spec.Disks[0].BadSectors = []int64{kernelSector}
	return b.withMachine(ctx, spec, func(s *site.Site, m *lab.Machine) error {
		if _, err := readied(ctx, s, m, false); err != nil {
			return err
		}
		b.lap("clean")
		if err := fails(ctx, b.name, s, m, image(s, b.tiny, b.tiny.Raw), badDisk); err != nil {
			return err
		}
		b.lap("failure")
		return nil
	})
}

func badWipe(ctx context.Context, b *bed) error {
	spec := odd(qemu.BIOS)
	spec.Disks[0].BadSectors = []int64{tableSector}
	return b.withMachine(ctx, spec, func(s *site.Site, m *lab.Machine) error {
		if err := install(b.tiny.Raw, m); err != nil {
			return err
		}
		if _, err := s.Enroll(ctx, m, nil); err != nil {
			return fmt.Errorf("enroll: %w", err)
		}
		if _, err := s.Ask(ctx, m.Name, "manage", "manageable"); err != nil {
			return fmt.Errorf("manage: %w", err)
		}
		n, err := s.Ask(ctx, m.Name, "provide", "clean failed")
		if err != nil {
			return fmt.Errorf("provide: %w", err)
		}
		if err := admits(b.name, n, badDisk); err != nil {
			return err
		}
		b.lap("failure")
		return nil
	})
}
