package plan

import (
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// unrescue ends the rescue ramdisk and boots the machine's own operating
// system again: unrescuing -> active.
type unrescue struct{}

func (unrescue) steps(d *decision) ([]node.Step, error) {
	if d.n.Interfaces["rescue"] == "fake" {
		return nil, nil
	}
	return bootInstance(d), nil
}

func (unrescue) done(d *decision, _ node.Run)           { d.fire(node.Done) }
func (unrescue) fail(d *decision, _ node.Run, _ string) { d.fire(node.Fail) }
func (unrescue) timeout(s Settings) time.Duration       { return s.BMC.Power }
