package plan

import (
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// clean wipes what the last owner left, with those steps of the agent whose
// priority is not zero: cleaning -> available. With automated cleaning off, or
// a deploy interface without a ramdisk, it has no steps and is over at once.
type clean struct{}

func (clean) steps(d *decision) []node.Step {
	if !automatedClean(d) || !agentDeploy(d.n) {
		return nil
	}
	return append(withAgent(d), leaveRamdisk(d)...)
}

func (clean) done(d *decision) { d.fire(node.Done) }

// A failed clean takes the node out of service: its disks may still hold
// somebody's data. Ironic does the same, with this fault.
func (clean) fail(d *decision, reason string) {
	d.fire(node.Fail)
	d.n.Maintenance, d.n.MaintenanceReason, d.n.Fault = true, reason, "clean failure"
}

func (clean) timeout(s Settings) time.Duration { return s.CleanTimeout }

// automatedClean: the node's own setting beats the conductor's.
func automatedClean(d *decision) bool {
	if d.n.AutomatedClean != nil {
		return *d.n.AutomatedClean
	}
	return d.f.Settings.AutomatedClean
}
