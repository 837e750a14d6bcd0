package plan

import (
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// wellListed refuses steps that are invalid as listed, independent of their executor. Steps without an executor are for
// stepsOffered.
func wellListed(d *decision, r Request) error {
	n, steps := d.n, r.steps()
	if len(steps) > maxSteps {
		return node.Refuse(node.Invalid, "%d steps are listed for node %s; at most %d are taken: do them in several goes",
			len(steps), n.UUID, maxSteps)
	}
	for _, s := range steps {
		if s.Step == "" {
			return node.Refuse(node.Invalid, "a step without a name was listed for node %s", n.UUID)
		}
		if s.OnChildren && s.Step == "hold" {
			return node.Refuse(node.Invalid, "step hold cannot be executed on child nodes: hold the parent node %s instead",
				n.UUID)
		}
		if len(s.Children) > 0 && !s.OnChildren {
			return node.Refuse(node.Invalid,
				"step %s names child nodes in limit_child_node_execution, but does not say execute_on_child_nodes", s)
		}
		if reserved[s.Step] && (!s.OnChildren || s.Step == "wait") {
			if err := checkReserved(n, s, d.f.Settings.StepLimit); err != nil {
				return err
			}
		}
		if s.Step != "wait" {
			continue
		}
		_, timed, _ := waitSpan(s) // it is checked
		switch {
		case !timed && s.OnChildren:
			return node.Refuse(node.Invalid, "step wait on child nodes needs the argument seconds: no agent of theirs calls")
		case !timed && (r.noRamdisk() || !agentDeploy(n)):
			return node.Refuse(node.Invalid,
				"step wait without seconds waits for a heartbeat, but no agent runs for node %s: give it seconds", n.UUID)
		}
	}
	return nil
}

// steps is the list a request came with, whichever verb it is for: its own, or
// its runbook's in their order.
func (r Request) steps() []node.Step {
	for _, list := range [][]node.Step{r.CleanSteps, r.DeploySteps, r.ServiceSteps} {
		if len(list) > 0 {
			return list
		}
	}
	if r.Runbook == nil {
		return nil
	}
	book := slices.Clone(r.Runbook.Steps)
	slices.SortStableFunc(book, func(a, b node.RunbookStep) int { return a.Order - b.Order })
	var steps []node.Step
	for _, s := range book {
		s.From = "runbook " + r.Runbook.Name
		steps = append(steps, s.Step)
	}
	return steps
}

// stepsGiven refuses a verb of which the steps are all the work.
func stepsGiven(_ *decision, r Request) error {
	if len(r.steps()) > 0 {
		return nil
	}
	return node.Refuse(node.Invalid, `"%[1]s_steps" is required when setting target provision state to %[1]s`, r.Verb)
}

// approved: a runbook is for the nodes that have one of its traits. Until
// microversion 1.112 that is its name.
func approved(d *decision, r Request) error {
	n, book := d.n, r.Runbook
	switch {
	case book == nil || slices.ContainsFunc(book.Traits, func(t string) bool { return slices.Contains(n.Traits, t) }):
		return nil
	case len(book.Traits) == 0:
		return node.Refuse(node.Invalid,
			"Runbook %s has no traits configured. Please ask an administrator to add traits to the runbook.", book.Name)
	}
	return node.Refuse(node.Invalid,
		"This runbook has not been approved for use on this node %s. The node does not have any of the runbook's traits "+
			"%v. Please ask an administrator to add a matching trait to your node.", n.UUID, book.Traits)
}

func (r Request) noRamdisk() bool {
	return r.DisableRamdisk || r.Runbook != nil && r.Runbook.DisableRamdisk
}

// asked returns all requested steps. A deploy also does the steps of the templates that its instance's traits name,
// except steps that the request has, too.
func (d *decision) asked(activity string, r Request) []node.Step {
	own := r.steps()
	if activity != "deploy" {
		return own
	}
	var all []node.Step
	for _, t := range d.f.Templates {
		for _, s := range t.Steps {
			s.From = "deploy template " + t.Name
			if !slices.ContainsFunc(own, func(o node.Step) bool { return o.String() == s.String() }) {
				all = append(all, s)
			}
		}
	}
	return append(all, own...)
}
