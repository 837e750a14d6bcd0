package redfish

import (
	"context"
	"fmt"
	"slices"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// bootSources are Ironic's names for what a machine boots from.
var bootSources = []struct {
	device string
	source schemas.BootSource
}{
	{"pxe", schemas.PxeBootSource},
	{"disk", schemas.HddBootSource},
	{"cdrom", schemas.CdBootSource},
	{"bios", schemas.BiosSetupBootSource},
	{"uefihttp", schemas.UefiHTTPBootSource},
}

// SupportedBootDevices lists what there are names for; which of them a BMC
// takes shows when it is set.
func (d *Driver) SupportedBootDevices(node.Node) []string {
	var all []string
	for _, b := range bootSources {
		all = append(all, b.device)
	}
	return all
}

// BootDevice reads the override of the boot order; "" for none, or for one
// that Ironic has no name for.
func (d *Driver) BootDevice(ctx context.Context, n node.Node) (device string, persistent bool, err error) {
	err = d.call(ctx, n, "read the boot device", func(s *session) error {
		sys, err := s.read()
		if err != nil || sys.Boot.BootSourceOverrideEnabled == schemas.DisabledBootSourceOverrideEnabled {
			return err
		}
		for _, b := range bootSources {
			if b.source == sys.Boot.BootSourceOverrideTarget {
				device = b.device
				persistent = sys.Boot.BootSourceOverrideEnabled == schemas.ContinuousBootSourceOverrideEnabled
			}
		}
		return nil
	})
	return device, persistent, err
}

// SetBootDevice overrides the boot order, once or until further notice.
func (d *Driver) SetBootDevice(ctx context.Context, n node.Node, device string, persistent bool) error {
	var source schemas.BootSource
	for _, b := range bootSources {
		if b.device == device {
			source = b.source
		}
	}
	if source == "" {
		return node.Refuse(node.Invalid, "Invalid boot device %s specified.", device)
	}
	enabled := schemas.OnceBootSourceOverrideEnabled
	if persistent {
		enabled = schemas.ContinuousBootSourceOverrideEnabled
	}
	return d.call(ctx, n, "set the boot device to "+device, func(s *session) error {
		return s.change(func(sys *schemas.ComputerSystem) error {
			if offered := sys.Boot.AllowableBootSourceOverrideTargetValues; len(offered) > 0 &&
				!slices.Contains(offered, source) {
				return node.Refuse(node.Invalid, "the BMC cannot boot from %s: it offers %v, %s is wanted", device, offered, source)
			}
			return sys.SetBoot(&schemas.Boot{BootSourceOverrideTarget: source, BootSourceOverrideEnabled: enabled})
		})
	})
}

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

// SetBootMode chooses the firmware interface. A mode that is set already is not set again:
// many BMCs can report it and not change it.
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
			if err := sys.SetBoot(&schemas.Boot{BootSourceOverrideMode: want}); err != nil {
				return fmt.Errorf("from %q: %w", sys.Boot.BootSourceOverrideMode, err)
			}
			return nil
		})
	})
}
