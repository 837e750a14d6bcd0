package e2e

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/pxe"
)

// live deploys machines that have no OS on a disk: their workload comes from
// the network at every start (deploy interface ramdisk), for one as kernel and
// ramdisk, for the other as an ISO.
func live(ctx context.Context, b *bed) (err error) {
	if _, err := b.tiny.WriteLive(ctx, filepath.Join(b.images, "live")); err != nil {
		return err
	}
	disc := machine("metal-2", qemu.UEFI)
	disc.NICs[0].OptionROM = false // so that iPXE is the one we serve, as on most real machines
	s, done, err := b.site(ctx, []qemu.Spec{machine("metal-1", qemu.BIOS), disc})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	at := s.ImagesURL + "/live/"
	for i, boots := range []string{
		"--instance-info kernel=" + at + "vmlinuz --instance-info ramdisk=" + at +
			"initramfs --instance-info ramdisk_kernel_arguments=console=ttyS0,115200",
		"--instance-info boot_iso=" + at + "live.iso",
	} {
		if err := b.lives(ctx, s, s.Machines[i], boots, "ipxe"); err != nil {
			return fmt.Errorf("%s: %w", s.Machines[i].Name, err)
		}
	}
	return b.lost(ctx, s, s.Machines[0], at+"nothing")
}

// lost takes the kernel away from a machine that lives on it: the status shows iPXE's error.
func (b *bed) lost(ctx context.Context, s *site.Site, m *lab.Machine, kernel string) error {
	if err := b.commands(ctx, s, "node set "+m.Name+" --instance-info kernel="+kernel,
		"node power reboot "+m.Name); err != nil {
		return err
	}
	for {
		st, err := s.Status(ctx, m.Name)
		if err != nil {
			return err
		}
		for _, stage := range st.BootStages {
			if stage.Name == string(pxe.StageFailed) {
				say("live: as it should: %s: %s", stage.Name, stage.Detail)
				if !strings.Contains(stage.Detail, "ipxe.org/2d0c") { // ENOENT of its HTTP client
					return fmt.Errorf("%s: boot stage %q says %q, expected the address of iPXE's page on 404", m.Name, stage.Name,
						stage.Detail)
				}
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s has no kernel and does not say so: %w", m.Name, ctx.Err())
		case <-time.After(time.Second):
		}
	}
}

// lives deploys a machine as the flags say and restarts it when its OS is up:
// it comes back into it.
func (b *bed) lives(ctx context.Context, s *site.Site, m *lab.Machine, flags, boot string) error {
	if _, err := s.Enroll(ctx, m, map[string]any{"deploy_interface": "ramdisk", "automated_clean": false,
		"boot_interface": boot}); err != nil {
		return err
	}
	err := b.commands(ctx, s,
		"node manage "+m.Name+" --wait", "node provide "+m.Name+" --wait",
		"node set "+m.Name+" "+flags, "node deploy "+m.Name+" --wait")
	if err != nil {
		return err
	}
	if err := osIsUp(ctx, m, 0); err != nil {
		return err
	}
	before := starts(m)
	if err := b.commands(ctx, s, "node power reboot "+m.Name+" --wait"); err != nil {
		return err
	}
	return osIsUp(ctx, m, before)
}
