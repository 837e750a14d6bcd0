package plan

import (
	"fmt"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// disallows reports whether the operator has disallowed a step (Ironic's [api]disallow_*_steps).
func (s Settings) disallows(fw node.Framework, one node.Step) bool {
	return slices.Contains(s.Disallowed[fw], one.String())
}

// stepsAllowed refuses a request with a disallowed step, of its own, of its runbook or of a deploy template.
func stepsAllowed(d *decision, r Request) error {
	fw := r.framework()
	for _, s := range d.asked(string(fw), r) {
		if d.f.Settings.disallows(fw, s) {
			return node.Refuse(node.Invalid, "%s step '%s' is not allowed on node %s: --disallow-%s-steps of the conductor "+
				"names it", fw, named(s), d.n.UUID, fw)
		}
	}
	return nil
}

// allowed takes the disallowed steps out of those that drivers and agents do unasked, and notes it.
func (d *decision) allowed(fw node.Framework, steps []node.Step) []node.Step {
	return slices.DeleteFunc(steps, func(s node.Step) bool {
		if !d.f.Settings.disallows(fw, s) || fw == node.DeploySteps && s.String() == writeImage { // which has its own place
			return false
		}
		d.note("INFO", fmt.Sprintf("%s step %s is left out: --disallow-%s-steps names it", fw, s, fw))
		return true
	})
}
