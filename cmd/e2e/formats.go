package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/cmd/ferrite-lab/qemu"
)

// formats deploys what the other cases do not: packed images, and disks and
// cards of other kinds. Two machines share one lab.
func formats(ctx context.Context, b *bed) (err error) {
	nvme, scsi := machine("nvme-1", qemu.UEFI), machine("scsi-1", qemu.BIOS)
	nvme.Disks[0].Bus, scsi.Disks[0].Bus = qemu.BusNVMe, qemu.BusSCSI
	nvme.NICs = append(nvme.NICs, qemu.NIC{OptionROM: true, Unplugged: true})
	s, done, err := b.site(ctx, []qemu.Spec{nvme, scsi}, "--fast-track")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	for i, path := range []string{b.tiny.RawGz, b.tiny.Qcow2Compressed} {
		m := s.Machines[i]
		if _, err := readied(ctx, s, m, true); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		if err := deploy(ctx, s, m, image(s, b.tiny, path), "first", m.Name); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return nil
}
