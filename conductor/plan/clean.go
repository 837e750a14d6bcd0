package plan

import (
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// clean removes the last owner's data by the steps of driver and agent with a priority other than zero, or by the
// steps of a runbook: cleaning -> available. A manual clean does the steps that an operator has listed instead:
// cleaning -> manageable.
type clean struct{}

func (clean) steps(d *decision) ([]node.Step, error) {
	if d.n.Run.ByHand {
		return d.byHand(node.CleanSteps, endClean)
	}
	if !automatedClean(d.n, d.f.Settings) {
		return nil, nil
	}
	if err := cleaningFits(d, Request{}); err != nil {
		return nil, err
	}
	if d.cleansWith() {
		return d.byHand(node.CleanSteps, endClean)
	}
	if leftAlone(d.n) {
		d.note("WARNING", "the disks are not cleaned: deploy interface noop boots no ramdisk")
	}
	if !agentDeploy(d.n) {
		return append(d.automatic(node.CleanSteps, nil), d.readHardware()...), nil
	}
	return append(withAgent(d), endClean(d)...), nil
}

// endClean ends the ramdisk. Before that, while all parts of the machine are on, it asks the BMC for the new settings
// and firmware.
func endClean(d *decision) []node.Step { return append(d.readHardware(), leaveRamdisk(d)...) }

// byHand is a run of the steps that an operator or a runbook has listed, in a ramdisk where they need one; leave ends
// the ramdisk.
func (d *decision) byHand(fw node.Framework, leave func(*decision) []node.Step) ([]node.Step, error) {
	r := d.n.Run
	if !r.NoRamdisk && d.needsRamdisk(fw, r.Listed) {
		return append(withAgent(d), leave(d)...), nil
	}
	r.NoRamdisk = true
	steps, err := d.resolve(fw, r.Listed, nil)
	return append(steps, d.readHardware()...), err
}

func (clean) done(d *decision, r node.Run) {
	d.n.RestoreDeploy()
	if r.ByHand {
		d.fire(node.Manage)
		return
	}
	d.fire(node.Done)
}

// fail takes the node out of service if the clean failed at a step: its disks may be half wiped. A clean that never
// came to a step does not. Ironic does the same, with this fault.
func (clean) fail(d *decision, r node.Run, reason string) {
	d.n.RestoreDeploy()
	d.fire(node.Fail)
	d.outOfService(r, "clean failure", reason)
	if r.ByHand {
		d.n.TargetProvisionState = node.Manageable
	}
}

// outOfService puts a node into maintenance when its run has failed at a step
// of the framework.
func (d *decision) outOfService(r node.Run, fault, reason string) {
	if s := r.Current(); s != nil && (s.InBand || s.Driver || s.OnChildren ||
		s.String() == reattachNetworks) {
		d.n.Maintenance, d.n.MaintenanceReason, d.n.Fault = true, reason, fault
	}
}

func (clean) timeout(s Settings) time.Duration { return s.CleanTimeout }

// automatedClean: the node's own setting beats the conductor's.
func automatedClean(n node.Node, s Settings) bool {
	if n.AutomatedClean != nil {
		return *n.AutomatedClean
	}
	return s.AutomatedClean
}

func notRetired(d *decision, _ Request) error {
	if d.n.Retired {
		return node.Refuse(node.InvalidState, "Node %s is retired: clear retired before it is provided", d.n.UUID)
	}
	return nil
}
