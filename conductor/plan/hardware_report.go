package plan

import (
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// hardwareEffect asks the BMC for BIOS settings and firmware. It never fails: data that are only shown are no reason to
// end a run.
const hardwareEffect = "management.read_hardware"

// readHardware ends the runs after which Ironic reads settings and firmware anew: the last report may be out of date.
func (d *decision) readHardware() []node.Step {
	if !d.f.ReportsHardware {
		return nil
	}
	return []node.Step{step("management", "read_hardware", nil)}
}

func hardwareRead(d *decision, now node.HardwareReport) error {
	d.learnHardware(now)
	return nil
}

// vendorProperty is the property in which Ironic keeps the vendor that its management interface detects.
const vendorProperty = "vendor"

// learnHardware stores a BMC's report if it differs from the last one.
func (d *decision) learnHardware(now node.HardwareReport) {
	if report, changed := d.f.HardwareReport.Update(now, d.now); changed {
		d.hardware = &report
	}
	if now.Vendor == "" || d.n.Properties[vendorProperty] != nil { // an operator's word stays, as in Ironic
		return
	}
	if d.n.Properties == nil {
		d.n.Properties = map[string]any{}
	}
	d.n.Properties[vendorProperty], d.dirty = now.Vendor, true
}
