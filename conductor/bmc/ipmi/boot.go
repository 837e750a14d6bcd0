package ipmi

import (
	"context"
	"fmt"
	"slices"

	"github.com/bougou/go-ipmi/pkg/command/chassis"
	"github.com/bougou/go-ipmi/pkg/types"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// bootDevices are Ironic's names of boot devices, in the order of its ipmitool interface.
var bootDevices = []struct {
	device   string
	selector types.BootDeviceSelector
}{
	{"pxe", types.BootDeviceSelectorForcePXE},
	{"disk", types.BootDeviceSelectorForceHardDrive},
	{"cdrom", types.BootDeviceSelectorForceCDROM},
	{"bios", types.BootDeviceSelectorForceBIOSSetup},
	{"safe", types.BootDeviceSelectorForceHardDriveSafe},
}

// SupportedBootDevices lists all devices that have a name. A BMC may support fewer, and refuses the others when they
// are set.
func (d *Driver) SupportedBootDevices(node.Node) []string {
	var all []string
	for _, b := range bootDevices {
		all = append(all, b.device)
	}
	return all
}

// bootFlagsSize is the length of boot option parameter 5 (IPMI v2.0, table
// 28-14).
const bootFlagsSize = 5

// flags reads the boot flags that the BMC passes to the firmware. A BMC without the
// parameter, or with none set, has none.
func (s *session) flags(ctx context.Context) (flags types.BootOptionParam_BootFlags, err error) {
	flags, _, err = s.readFlags(ctx)
	return flags, err
}

// readFlags reads the boot flags; known is false for a BMC that does not report them.
func (s *session) readFlags(ctx context.Context) (flags types.BootOptionParam_BootFlags, known bool, err error) {
	c := types.CommandGetSystemBootOptions
	answer, err := ask(ctx, s, c, func(ctx context.Context) (*chassis.GetSystemBootOptionsParamResponse, error) {
		return s.client.GetSystemBootOptionsParam(ctx, types.BootOptionParamSelector_BootFlags, 0, 0)
	})
	if unsupported(err) {
		s.log.Warn("the BMC does not report the machine's boot device", "err", err)
		return flags, false, nil
	}
	if err != nil {
		return flags, false, err
	}
	if len(answer.ParamData) < bootFlagsSize {
		return flags, false, &garbledError{
			c.Name, fmt.Sprintf("the boot flags are %d bytes long, expected %d", len(answer.ParamData), bootFlagsSize),
		}
	}
	return flags, true, flags.Unpack(answer.ParamData[:bootFlagsSize])
}

func (s *session) setParam(ctx context.Context, selector types.BootOptionParamSelector, data []byte) error {
	_, err := ask(ctx, s, types.CommandSetSystemBootOptions,
		func(ctx context.Context) (*chassis.SetSystemBootOptionsParamResponse, error) {
			return s.client.SetSystemBootOptionsParam(ctx,
				&chassis.SetSystemBootOptionsParamRequest{ParamSelector: selector, ParamData: data})
		})
	return err
}

// BootDevice reads the override of the boot order; "" for none, or for a device without a name in Ironic. As in Ironic,
// the flag that marks the override as valid is ignored: some BMCs never set it.
func (d *Driver) BootDevice(ctx context.Context, n node.Node) (device string, persistent bool, err error) {
	err = d.call(ctx, n, "read the boot device", func(ctx context.Context, s *session) error {
		flags, err := s.flags(ctx)
		if err != nil {
			return err
		}
		if device, err = s.deviceOf(ctx, flags); device != "" {
			persistent = flags.Persist
		}
		return err
	})
	if err != nil {
		return "", false, err
	}
	return device, persistent, nil
}

// SetBootDevice overrides the boot order, once or until further notice, for
// the firmware interface that the node boots through.
func (d *Driver) SetBootDevice(ctx context.Context, n node.Node, device string, persistent bool) error {
	if !slices.Contains(d.SupportedBootDevices(n), device) {
		return node.Refuse(node.Invalid, "Invalid boot device %s specified.", device)
	}
	t, err := parse(n)
	if err != nil {
		return err
	}
	return d.call(ctx, n, "set the boot device to "+device, func(ctx context.Context, s *session) error {
		mode, err := s.bootMode(ctx, n)
		if err != nil {
			return err
		}
		selector, err := s.selectorOf(ctx, device, mode)
		if err != nil {
			return err
		}
		if !t.keepBootTimeout {
			if err := s.keepFlags(ctx); err != nil {
				return err
			}
		}
		flags := types.BootOptionParam_BootFlags{
			BootFlagsValid: true, Persist: persistent, BIOSBootType: bootTypes[mode], BootDeviceSelector: selector,
		}
		return s.setFlags(ctx, flags)
	})
}

// setFlags sets the boot flags and reads the device back: some BMCs accept the new device and keep the old one. Then
// setFlags tries once more, and fails if the device still differs. A BMC that does not report flags is believed.
func (s *session) setFlags(ctx context.Context, want types.BootOptionParam_BootFlags) error {
	const tries = 2
	for try := 1; ; try++ {
		if err := s.setParam(ctx, types.BootOptionParamSelector_BootFlags, want.Pack()); err != nil {
			return err
		}
		is, known, err := s.readFlags(ctx)
		if err != nil {
			return fmt.Errorf("the BMC took the boot device, which cannot be read back: %w", err)
		}
		if !known || is.BootDeviceSelector == want.BootDeviceSelector {
			return nil
		}
		if try == tries {
			return node.Refuse(node.BMCFailed, "the BMC accepts the boot device %s and does not keep it: it shows %s; restart "+
				"the BMC, update its firmware, or set the boot order by hand and management_interface to noop",
				want.BootDeviceSelector, is.BootDeviceSelector)
		}
	}
}

// keepFlags has the BMC keep the boot flags longer than the minute after which
// it forgets them by itself (parameter 3, bit 3), as Ironic does unless
// ipmi_disable_boot_timeout is false: a machine may be turned on later.
func (s *session) keepFlags(ctx context.Context) error {
	err := s.setParam(ctx, types.BootOptionParamSelector_BMCBootFlagValidBitClear, []byte{1 << 3})
	if unsupported(err) {
		s.log.Warn("the BMC may forget the boot device after a minute; ipmi_disable_boot_timeout: false spares the question",
			"err", err)
		return nil
	}
	return err
}

// bootTypes are Ironic's names for IPMI's firmware interfaces.
var bootTypes = map[string]types.BIOSBootType{
	"bios": types.BIOSBootTypeLegacy,
	"uefi": types.BIOSBootTypeEFI,
}

func modeOf(flags types.BootOptionParam_BootFlags) string {
	for name, t := range bootTypes {
		if flags.BootFlagsValid && t == flags.BIOSBootType {
			return name
		}
	}
	return ""
}

// bootMode is the node's boot mode: the recorded mode, or else the BMC's, or else Ironic's default.
func (s *session) bootMode(ctx context.Context, n node.Node) (string, error) {
	if n.BootMode != "" {
		return n.BootMode, nil
	}
	flags, err := s.flags(ctx)
	if mode := modeOf(flags); mode != "" || err != nil {
		return mode, err
	}
	return "uefi", nil
}

// BootMode reads the firmware interface that the machine is set to boot through. It is "" when none is set: IPMI does
// not show the machine's own choice.
func (d *Driver) BootMode(ctx context.Context, n node.Node) (mode string, err error) {
	err = d.call(ctx, n, "read the boot mode", func(ctx context.Context, s *session) error {
		flags, err := s.flags(ctx)
		mode = modeOf(flags)
		return err
	})
	return mode, err
}

// SetBootMode chooses the firmware interface, and keeps the boot device. Without a boot device, the choice holds until
// further notice.
func (d *Driver) SetBootMode(ctx context.Context, n node.Node, mode string) error {
	want, ok := bootTypes[mode]
	if !ok {
		return node.Refuse(node.Invalid, "ipmi cannot set the boot mode %q, only uefi and bios", mode)
	}
	return d.call(ctx, n, "set the boot mode to "+mode, func(ctx context.Context, s *session) error {
		flags, err := s.flags(ctx)
		if err != nil || flags.BootFlagsValid && flags.BIOSBootType == want {
			return err
		}
		if !flags.BootFlagsValid {
			flags = types.BootOptionParam_BootFlags{BootFlagsValid: true, Persist: true}
		}
		flags.BIOSBootType = want
		return s.setParam(ctx, types.BootOptionParamSelector_BootFlags, flags.Pack())
	})
}
