package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// ovmfPXE boots through OVMF's own PXE client: its DHCP, and our TFTP.
func ovmfPXE(ctx context.Context, b *bed) error {
	m := machine("metal-1", qemu.UEFI)
	m.NICs[0].OptionROM = false
	return inspected(ctx, b, m, "pxe", "tftp boot file")
}

// uefiHTTP boots through OVMF's HTTP client.
func uefiHTTP(ctx context.Context, b *bed) error {
	m := machine("metal-1", qemu.UEFI)
	m.NICs[0].OptionROM, m.HTTPBoot = false, true
	return inspected(ctx, b, m, "http-ipxe", "http boot file")
}

// inspected takes a machine through inspection and wants a boot stage seen on
// the way.
func inspected(ctx context.Context, b *bed, spec qemu.Spec, bootInterface, stage string) (err error) {
	s, done, err := b.site(ctx, []qemu.Spec{spec})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	m := s.Machines[0]
	if _, err := s.Enroll(ctx, m, map[string]any{"boot_interface": bootInterface}); err != nil {
		return fmt.Errorf("enroll: %w", err)
	}
	if _, err := s.Ask(ctx, m.Name, "manage", "manageable"); err != nil {
		return fmt.Errorf("manage: %w", err)
	}
	if _, err := s.Ask(ctx, m.Name, "inspect", "manageable"); err != nil {
		return fmt.Errorf("inspect: %w", err)
	}
	st, err := s.Status(ctx, m.Name)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(st.BootStages, func(x nodeapi.Stage) bool { return x.Name == stage }) {
		return fmt.Errorf("inspect: no boot stage %q among %v", stage, st.BootStages)
	}
	return nil
}
