package redfish

import (
	"cmp"
	"context"
	"fmt"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// bootModes are Ironic's names for Redfish's modes.
var bootModes = map[string]schemas.BootSourceOverrideMode{
	"uefi": schemas.UEFIBootSourceOverrideMode,
	"bios": schemas.LegacyBootSourceOverrideMode,
}

func modeOf(sys *schemas.ComputerSystem) string {
	for name, mode := range bootModes {
		if mode == sys.Boot.BootSourceOverrideMode {
			return name
		}
	}
	return ""
}

// BootMode reads which firmware interface the machine boots through.
func (d *Driver) BootMode(ctx context.Context, n node.Node) (mode string, err error) {
	err = d.call(ctx, n, "read the boot mode", func(s *session) error {
		sys, err := s.read()
		if err == nil {
			mode = modeOf(sys)
		}
		return err
	})
	return mode, err
}

// SetBootMode chooses the firmware interface. A mode that is set already is not set again: many BMCs can report it and
// not change it. A BMC that neither shows nor takes one lacks it, which is no fault: BootSourceOverrideMode is optional
// (ironcore-dev/metal-operator#982: Supermicro X10; Ironic's set_boot_mode: HPE Gen9).
func (d *Driver) SetBootMode(ctx context.Context, n node.Node, mode string) error {
	want, ok := bootModes[mode]
	if !ok {
		return node.Refuse(node.Invalid, "redfish cannot set the boot mode %q, only uefi and bios", mode)
	}
	return d.call(ctx, n, "set the boot mode to "+mode, func(s *session) error {
		return s.change(func(sys *schemas.ComputerSystem) error {
			if sys.Boot.BootSourceOverrideMode == want {
				return nil
			}
			has, err := s.quirks(sys)
			if err != nil {
				return err
			}
			boot := map[string]any{"BootSourceOverrideMode": want}
			if has(FullBootRequest) {
				o := override{sys, wholeSource(sys), want}
				boot = o.body(cmp.Or(sys.Boot.BootSourceOverrideEnabled, schemas.OnceBootSourceOverrideEnabled))
			}
			err = s.setBoot(sys, boot)
			if sys.Boot.BootSourceOverrideMode == "" && refusesValue(err) {
				return node.Refuse(node.Lacking, "the BMC neither shows the boot mode nor takes %s: %v", want, describe(err))
			}
			if err != nil {
				return fmt.Errorf("from %q: %w", sys.Boot.BootSourceOverrideMode, err)
			}
			return nil
		})
	})
}

// wholeSource is the device to send with a mode where both are wanted.
func wholeSource(sys *schemas.ComputerSystem) schemas.BootSource {
	return cmp.Or(sys.Boot.BootSourceOverrideTarget, schemas.PxeBootSource)
}
