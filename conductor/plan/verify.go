package plan

import (
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// verify asks the BMC whether it is there and lets us in: enroll -> manageable,
// or back to enroll (there is no failed state: nothing was learnt).
type verify struct{}

func (verify) steps(*decision) []node.Step {
	return []node.Step{
		step("power", "validate", nil),
		step("management", "validate", nil),
	}
}

func (verify) done(d *decision)                 { d.fire(node.Done) }
func (verify) fail(d *decision, _ string)       { d.fire(node.Fail) }
func (verify) timeout(s Settings) time.Duration { return s.PowerTimeout }
