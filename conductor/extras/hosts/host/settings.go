package host

import (
	"reflect"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// provisioningSettings are the settings that a machine is prepared with.
type provisioningSettings struct {
	hints *hostapi.RootDeviceHints
	raid  *hostapi.RAID
}

// wantedSettings are the settings that the document asks for. If it does not mention RAID, a controller's volumes stay,
// and the kernel's are removed.
func (d *decision) wantedSettings() provisioningSettings {
	raid, is := d.h.Spec.RAID, d.h.Status.Provisioning.RAID
	if (raid == nil || reflect.DeepEqual(raid, &hostapi.RAID{})) && is != nil {
		raid = &hostapi.RAID{SoftwareRAIDVolumes: []hostapi.SoftwareRAIDVolume{}}
		if len(is.HardwareRAIDVolumes) > 0 {
			raid.HardwareRAIDVolumes = is.HardwareRAIDVolumes
		}
	}
	return provisioningSettings{d.source().HintsWanted(), raid}
}

// settingsDiffer reports whether the machine was prepared with anything else.
func (d *decision) settingsDiffer(s provisioningSettings) bool {
	p := d.h.Status.Provisioning
	return !reflect.DeepEqual(s.hints, p.RootDeviceHints) || !reflect.DeepEqual(s.raid, p.RAID)
}

// saveSettings records the settings that the machine is prepared with.
func (d *decision) saveSettings(s provisioningSettings) {
	d.h.Status.Provisioning.RootDeviceHints, d.h.Status.Provisioning.RAID = s.hints, s.raid
}

// clearSettings clears the recorded settings, but not the controller's volumes, which are not made twice.
func (d *decision) clearSettings() {
	p := &d.h.Status.Provisioning
	p.RootDeviceHints, p.Firmware = nil, nil
	if p.RAID != nil {
		p.RAID = &hostapi.RAID{HardwareRAIDVolumes: p.RAID.HardwareRAIDVolumes}
	}
}
