package plan

import (
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// hardwareEffect asks the BMC for BIOS settings and firmware. It never fails: no run is
// worth ending for what is only shown.
const hardwareEffect = "management.read_hardware"

// readHardware is at the end of the runs after which Ironic reads settings and firmware
// anew: the last report may be true no more.
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

// learnHardware keeps what a BMC has reported, where it is news.
func (d *decision) learnHardware(now node.HardwareReport) {
	if report, changed := d.f.HardwareReport.Update(now, d.now); changed {
		d.hardware = &report
	}
}
