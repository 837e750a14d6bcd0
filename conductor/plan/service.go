package plan

import (
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// service changes a machine under a living workload with the steps an operator
// has listed: active -> servicing -> active. A machine that was taken into the
// ramdisk for it is brought back into its own operating system.
type service struct{}

func (service) steps(d *decision) ([]node.Step, error) {
	steps, err := d.byHand(node.ServiceSteps, endService)
	since := inRamdisk(d.n) || d.inRamdiskNetwork()
	if d.n.Run.NoRamdisk && since && !slices.ContainsFunc(steps, bootsAnew) { // since an earlier try, or a hold
		steps = append(steps, bootInstance(d)...)
	}
	return steps, err
}

func endService(d *decision) []node.Step { return append(d.readHardware(), bootInstance(d)...) }

func (service) done(d *decision, _ node.Run) {
	if d.n.Fault == serviceFault { // of an earlier try
		d.n.Maintenance, d.n.MaintenanceReason, d.n.Fault = false, "", ""
	}
	d.fire(node.Done)
}

const serviceFault = "service failure"

func (service) fail(d *decision, r node.Run, reason string) {
	d.fire(node.Fail)
	d.outOfService(r, serviceFault, reason)
}

func (service) timeout(s Settings) time.Duration { return s.ServiceTimeout }
