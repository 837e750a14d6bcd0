package e2e

import (
	"context"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// bootMedium inspects a machine whose ramdisk is in its virtual drive, on a bus.
func bootMedium(firmware qemu.Firmware, bus qemu.Bus) func(context.Context, *bed) error {
	return func(ctx context.Context, b *bed) error {
		m := machine("metal-1", firmware)
		m.CD = bus
		return inspected(ctx, b, m, "redfish-virtual-media", "boot medium read")
	}
}
