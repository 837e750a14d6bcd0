package redfish

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// bootSources are Ironic's names of boot devices, with their names in Redfish.
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

// usbCD is a virtual CD on BMCs where Cd is a drive of the machine; DSP0268 does not have it.
const usbCD schemas.BootSource = "UsbCd"

// deviceOf is Ironic's name of a source, "" for none.
func deviceOf(source schemas.BootSource) string {
	if source == usbCD {
		return "cdrom"
	}
	for _, b := range bootSources {
		if b.source == source {
			return b.device
		}
	}
	return ""
}

// SupportedBootDevices lists all devices that have a name. A BMC may support fewer, and refuses the others when they
// are set.
func (d *Driver) SupportedBootDevices(node.Node) []string {
	var all []string
	for _, b := range bootSources {
		all = append(all, b.device)
	}
	return all
}

// BootDevice reads the override of the boot order; "" for none, or for a device without a name in Ironic.
func (d *Driver) BootDevice(ctx context.Context, n node.Node) (device string, persistent bool, err error) {
	err = d.call(ctx, n, "read the boot device", func(s *session) error {
		sys, err := s.read()
		if err != nil {
			return err
		}
		shown := s.overrideShown(sys)
		if device = shown.device(); device != "" {
			persistent = shown.Enabled == schemas.ContinuousBootSourceOverrideEnabled
		}
		return nil
	})
	return device, persistent, err
}

// SetBootDevice overrides the boot order, once or until further notice. A BMC that takes no
// lasting override gets one for the next boot: BootDevice reports that it is not persistent.
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
	return d.call(ctx, n, "set the boot device to "+device, func(s *session) error {
		return s.setDevice(n, source, persistent)
	})
}

// offeredSource is the source to ask for; a CD, which is a virtual one, may be called UsbCd.
func offeredSource(sys *schemas.ComputerSystem, source schemas.BootSource, usb bool) (schemas.BootSource, error) {
	offered := sys.Boot.AllowableBootSourceOverrideTargetValues
	has := func(s schemas.BootSource) bool { return slices.Contains(offered, s) }
	if source == schemas.CdBootSource && has(usbCD) && (usb || !has(source)) {
		source = usbCD
	}
	if len(offered) > 0 && !has(source) {
		return "", node.Refuse(node.Invalid, "the BMC cannot boot from %s: it offers %v, %s is wanted",
			deviceOf(source), offered,
			source)
	}
	return source, nil
}

// override is a boot device to ask for; the mode is "" where it is not sent along.
type override struct {
	sys    *schemas.ComputerSystem
	source schemas.BootSource
	mode   schemas.BootSourceOverrideMode
}

// body is the override as it is sent; "" leaves out for how long.
func (o override) body(enabled schemas.BootSourceOverrideEnabled) map[string]any {
	boot := map[string]any{"BootSourceOverrideTarget": o.source}
	if enabled != "" {
		boot["BootSourceOverrideEnabled"] = enabled
	}
	if o.mode != "" {
		boot["BootSourceOverrideMode"] = o.mode
	}
	return boot
}

// aim asks for an override: a lasting one first, where it may last. Continuous was taken out
// of Redfish for a while, and some BMCs have refused it since.
func (s *session) aim(o override, persistent bool) error {
	ways := []schemas.BootSourceOverrideEnabled{schemas.OnceBootSourceOverrideEnabled}
	if persistent {
		ways = append([]schemas.BootSourceOverrideEnabled{schemas.ContinuousBootSourceOverrideEnabled}, ways...)
	}
	var first error
	for _, enabled := range ways {
		err := s.setBoot(o.sys, o.body(enabled))
		if refusesValue(err) && o.sys.Boot.BootSourceOverrideEnabled == enabled {
			err = s.setBoot(o.sys, o.body("")) // some refuse to set an unchanged value
		}
		switch {
		case err == nil && first != nil:
			s.log.Warn("the BMC takes no lasting boot device: it is set for the next boot alone", "device", o.source,
				"err", describe(first))
			return nil
		case !refusesValue(err):
			return err
		case first == nil:
			first = err
		}
	}
	return first
}

// refusesValue reports an answer after which another value may do.
func refusesValue(err error) bool {
	code := status(err)
	return !passing(err) && (code == http.StatusBadRequest || code == http.StatusMethodNotAllowed ||
		code == http.StatusConflict || code == http.StatusUnprocessableEntity || code == http.StatusNotImplemented)
}

// ClearBootDevice takes an override back: the machine boots as its firmware is set.
func (d *Driver) ClearBootDevice(ctx context.Context, n node.Node) error {
	return d.call(ctx, n, "take the boot device back", func(s *session) error {
		return s.change(func(sys *schemas.ComputerSystem) error {
			return s.setBoot(sys, map[string]any{"BootSourceOverrideEnabled": schemas.DisabledBootSourceOverrideEnabled})
		})
	})
}

// setBoot changes the system's Boot. Some BMCs refuse that and take it in their settings resource, if the override is
// shown there too (AMI's /SD). Lenovo's XCC shows only the boot order in its /Pending: an override would be lost there.
func (s *session) setBoot(sys *schemas.ComputerSystem, boot map[string]any) error {
	body := map[string]any{"Boot": boot}
	err := sys.Patch(sys.ODataID, body)
	var l struct {
		Settings struct{ SettingsObject reference } `json:"@Redfish.Settings"`
	}
	if s.reread(sys, &l) != nil || l.Settings.SettingsObject.Path == "" ||
		!refusesValue(err) && status(err) != http.StatusNotFound {
		return err
	}
	var settings struct{ Boot map[string]json.RawMessage }
	if _, e := s.get(l.Settings.SettingsObject.Path, &settings); e != nil {
		return err
	}
	for property := range boot {
		if _, shown := settings.Boot[property]; !shown {
			return err
		}
	}
	if s.patch(l.Settings.SettingsObject.Path, body) != nil {
		return err
	}
	return nil
}
