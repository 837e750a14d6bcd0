package host

import (
	"reflect"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// UpdatePolicy is the HostUpdatePolicy of a host as it becomes: it is people's,
// and only comes to go with its host. changed is false when it does already.
func UpdatePolicy(facts Facts) (next hostapi.HostUpdatePolicy, changed bool) {
	if !KeepsFirmware(facts) || facts.Firmware.Policy == nil {
		return next, false
	}
	next = *facts.Firmware.Policy
	next.OwnerReferences = owned(next.OwnerReferences, hostapi.KindHost, facts.Host.ObjectMeta)
	return next, !reflect.DeepEqual(next, *facts.Firmware.Policy)
}

// onReboot is what may be changed of a machine at work, while it is off anyway:
// nothing that no policy says.
func (d *decision) onReboot() (settings, updates bool) {
	p := d.facts.Firmware.Policy
	return p != nil && p.Spec.FirmwareSettings == hostapi.OnReboot, p != nil && p.Spec.FirmwareUpdates == hostapi.OnReboot
}
