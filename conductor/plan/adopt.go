package plan

import (
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// adopt takes over a machine that already runs a workload: adopting -> active.
// The BMC is asked whether it lets us in and whether the machine is on; the
// machine itself is not touched.
type adopt struct{}

func (adopt) steps(*decision) ([]node.Step, error) {
	return []node.Step{
		step("power", "validate", nil),
		step("management", "validate", nil),
	}, nil
}

func (adopt) done(d *decision, _ node.Run) {
	d.n.FixDeploy()
	d.fire(node.Done)
}
func (adopt) fail(d *decision, _ node.Run, _ string) { d.fire(node.Fail) }
func (adopt) timeout(s Settings) time.Duration       { return s.BMC.Power }

// adoptable: the machine runs a workload, which only a deploy interface that is known can look after later.
func adoptable(d *decision, _ Request) error {
	if _, ok := deployPlans[d.n.DeployInterface()]; !ok {
		return CheckInstance(d.n)
	}
	return nil
}
