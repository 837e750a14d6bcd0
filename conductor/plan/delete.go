package plan

import (
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// tearDown ends an instance: deleting -> cleaning (-> available). What the
// instance brought with it, and the allocation it was, is forgotten only once
// the machine is off.
type tearDown struct{}

func (tearDown) steps(d *decision) ([]node.Step, error) {
	if d.n.DisablePowerOff || !agentDeploy(d.n) {
		return nil, nil
	}
	return []node.Step{step("power", "power_off", nil)}, nil
}

func (tearDown) done(d *decision, _ node.Run) {
	d.n.InstanceInfo, d.n.InstanceUUID, d.n.InstanceName, d.n.AllocationUUID = nil, "", "", ""
	d.forgetPartitions()
	d.forgetAgent() // of a machine that was left on: one that a tenant had at hand is not believed that it has wiped
	d.fire(node.Clean)
	d.start("clean")
}

func (tearDown) fail(d *decision, _ node.Run, _ string) { d.fire(node.Fail) }
func (tearDown) timeout(s Settings) time.Duration       { return s.PowerTimeout }
