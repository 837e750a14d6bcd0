package plan

import "github.com/ferrite-metal/ferrite/conductor/node"

// limit bounds how many nodes are at the same thing at once. It is asked when an
// operator sends one more there; a node that comes to it by itself, or to be
// cleaned by provide, is not turned away, as in Ironic.
type limit struct {
	task   string // Ironic's word for it
	most   func(Settings) int
	states []node.State // in which a node counts
}

// limits is every verb that is bounded.
func limits() map[node.Event]limit {
	cleaning := func(s Settings) int { return s.MaxConcurrentClean }
	deploying := func(s Settings) int { return s.MaxConcurrentDeploy }
	clean := []node.State{node.Deleting, node.Cleaning, node.CleanWait}
	deploy := []node.State{node.Deploying, node.DeployWait}
	return map[node.Event]limit{
		node.Deploy:  {"provisioning", deploying, deploy},
		node.Rebuild: {"provisioning", deploying, deploy},
		node.Delete:  {"unprovisioning", cleaning, clean},
		node.Clean:   {"cleaning", cleaning, clean},
	}
}

// underLimit refuses a verb while as many nodes as may be are at it. How many that is it
// does not say: an attacker would know how much is needed.
func underLimit(d *decision, r Request) error {
	l, ok := limits()[r.Verb]
	if !ok || l.most(d.f.Settings) <= 0 {
		return nil
	}
	most := l.most(d.f.Settings)
	share := (most + 1) / 2 // of a project: else the others would wait for as long as it likes
	others, own := 0, 0
	for owner, counts := range d.f.Counts {
		has := 0
		for _, state := range l.states {
			has += counts[state]
		}
		switch {
		case owner == d.n.Owner:
			own = has
		case owner != "": // it has come beyond its share alone, or by provide, which is not turned away
			others += min(has, share)
		default:
			others += has
		}
	}
	switch {
	case others > 0 && d.n.Owner != "" && own >= share:
		return node.Refuse(node.Busy, "Unable to process request at this time. Project %s has half of the concurrent action "+
			"limit for %s, which is as much as one project may have beside others. Please try again when one of its nodes "+
			"is done.", d.n.Owner, l.task)
	case own+others < most:
		return nil
	}
	return node.Refuse(node.Busy,
		"Unable to process request at this time. The concurrent action limit for %s has been reached. Please contact your "+
			"administrator and try again later.", l.task)
}
