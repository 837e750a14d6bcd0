package plan

import (
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// verify asks the BMC whether it is there and lets us in, then does the
// driver's verify steps: enroll -> manageable, or back to enroll (there is no
// failed state: nothing was learnt).
type verify struct{}

func (verify) steps(d *decision) ([]node.Step, error) {
	steps := append([]node.Step{
		step("power", "validate", nil),
		step("management", "validate", nil),
	}, d.automatic(node.VerifySteps, nil)...)
	return append(steps, d.readHardware()...), nil
}

func (verify) done(d *decision, _ node.Run)           { d.fire(node.Done) }
func (verify) fail(d *decision, _ node.Run, _ string) { d.fire(node.Fail) }
func (verify) timeout(s Settings) time.Duration       { return s.BMC.Power }
