package redfish

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// keepLooks is how often a BMC is asked whether it has kept a thing, before it counts as not kept: some show it only
// seconds after their answer.
const keepLooks = 3

// setDevice asks for an override until the BMC keeps it. Some answer 200 and keep the target alone, or set the boot
// mode to Legacy where it is not sent along (bmc-toolbox/bmclib#459: Supermicro AS-1015CS; DMTF/Redfishtool#106; Ironic
// stories 2008547, 2008712). It is sent from the second try on: others, HPE's, refuse it together with a device.
func (s *session) setDevice(n node.Node, source schemas.BootSource, persistent bool) error {
	var mode schemas.BootSourceOverrideMode // that was shown before
	shown := shownOverride{}
	for try := 1; try <= changes; try++ {
		var o override
		err := s.change(func(sys *schemas.ComputerSystem) error {
			has, err := s.quirks(sys)
			if err != nil {
				return err
			}
			if source == schemas.CdBootSource && has(VirtualCDIsAttribute) {
				return s.bootVirtualCD(sys, persistent)
			}
			source, err := offeredSource(sys, source, has(VirtualCDIsUSB))
			if err != nil {
				return err
			}
			o, mode = override{sys: sys, source: source}, cmp.Or(mode, sys.Boot.BootSourceOverrideMode)
			if try > 1 || has(FullBootRequest) {
				o.mode = cmp.Or(mode, bootModes[n.BootMode], schemas.UEFIBootSourceOverrideMode)
			}
			err = s.aim(o, persistent)
			if o.mode != "" && refusesValue(err) { // the mode is not for it to set with the device
				o.mode = ""
				err = s.aim(o, persistent)
			}
			return err
		})
		if err != nil || o.sys == nil {
			return err
		}
		if shown, err = s.awaitOverride(o); err != nil || shown.keeps(o, mode) {
			return err
		}
		s.log.Warn("the BMC has not kept the boot device that it accepted, which is asked for again with the boot mode",
			"device", source, "given", shown.String())
	}
	return broken("the BMC accepts the boot device %s with the boot mode %s and does not keep it: it shows %s; set both "+
		"in the firmware's setup, or update the BMC's firmware", source, cmp.Or(mode, "as it is"), shown)
}

// awaitOverride reads the override back until it is as asked for, or does not become so.
func (s *session) awaitOverride(o override) (shown shownOverride, err error) {
	for look := 1; ; look++ {
		var sys *schemas.ComputerSystem
		if sys, err = s.read(); err == nil {
			shown = s.overrideShown(sys)
		}
		if err == nil && shown.keeps(o, "") || look == keepLooks { // a mode that fell back does not return by itself
			return shown, err
		}
		if err := s.pause(); err != nil {
			return shown, err
		}
	}
}

// shownOverride is the override that a BMC shows. A part that it does not show is "".
type shownOverride struct {
	Target  schemas.BootSource                `json:"BootSourceOverrideTarget"`
	Enabled schemas.BootSourceOverrideEnabled `json:"BootSourceOverrideEnabled"`
	Mode    schemas.BootSourceOverrideMode    `json:"BootSourceOverrideMode"`
}

// overrideShown is the override in force, or else the override for the next start in the settings resource (AMI's /SD).
func (s *session) overrideShown(sys *schemas.ComputerSystem) shownOverride {
	b := sys.Boot
	now := shownOverride{b.BootSourceOverrideTarget, b.BootSourceOverrideEnabled, b.BootSourceOverrideMode}
	if now.device() != "" {
		return now
	}
	var l struct {
		Settings struct{ SettingsObject reference } `json:"@Redfish.Settings"`
	}
	if json.Unmarshal(sys.RawData, &l) != nil || l.Settings.SettingsObject.Path == "" {
		return now
	}
	var next struct{ Boot shownOverride }
	if _, err := s.get(l.Settings.SettingsObject.Path, &next); err != nil || next.Boot.device() == "" {
		return now
	}
	next.Boot.Mode = cmp.Or(next.Boot.Mode, now.Mode)
	return next.Boot
}

// device is Ironic's name of the device that is booted instead of the first of the boot order; "" for none.
func (o shownOverride) device() string {
	if o.Enabled == schemas.DisabledBootSourceOverrideEnabled {
		return ""
	}
	return deviceOf(o.Target)
}

// keeps reports whether the shown override does not contradict the requested one, and the mode.
func (o shownOverride) keeps(asked override, mode schemas.BootSourceOverrideMode) bool {
	device := o.Enabled != schemas.DisabledBootSourceOverrideEnabled &&
		(o.Target == "" || deviceOf(o.Target) == deviceOf(asked.source))
	onlyUEFI := asked.source == schemas.UefiHTTPBootSource && o.Mode == schemas.UEFIBootSourceOverrideMode
	return device && (o.Mode == "" || mode == "" || o.Mode == mode || onlyUEFI)
}

// String is the override in the words of Redfish.
func (o shownOverride) String() string {
	return fmt.Sprintf("%s, %s, boot mode %s", cmp.Or(o.Target, "no target"), cmp.Or(o.Enabled, "no lifetime"),
		cmp.Or(o.Mode, "not shown"))
}
