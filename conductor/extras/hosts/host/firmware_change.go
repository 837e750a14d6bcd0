package host

import (
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/firmware"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// firmwareToPrepare is the change to make while the machine has no workload.
func (d *decision) firmwareToPrepare() firmware.Change { return d.firmwareChange(true, true) }

// firmwareChange finds the changes to settings, to updates, or to both.
func (d *decision) firmwareChange(settings, updates bool) firmware.Change {
	return firmware.Changes(d.facts.FirmwareFacts(), settings, updates)
}

// onReboot reports which changes are allowed while a machine at work is off for a reboot. Without a policy there are
// none.
func (d *decision) onReboot() (settings, updates bool) {
	p := d.facts.Firmware.Policy
	return p != nil && p.Spec.FirmwareSettings == hostapi.OnReboot, p != nil && p.Spec.FirmwareUpdates == hostapi.OnReboot
}

// recordUpdates writes down that the updates that are wanted are done: it is written
// when they are begun, and taken back by forgetUpdates.
func (d *decision) recordUpdates(f firmware.Change) {
	if f.UpdatesDiffer {
		d.setUpdates(d.facts.Firmware.Components.Spec.Updates)
	}
}

// forgetUpdates believes nothing of the updates that were done: all are done again.
func (d *decision) forgetUpdates() {
	if c := d.facts.Firmware.Components; c != nil && len(c.Status.Updates) > 0 {
		d.setUpdates(nil)
	}
}

func (d *decision) setUpdates(done []hostapi.FirmwareUpdate) {
	next, at := *d.facts.Firmware.Components, hostapi.At(d.facts.Now)
	next.Status.Updates, next.Status.LastUpdated = done, &at
	d.Components = &next
}
