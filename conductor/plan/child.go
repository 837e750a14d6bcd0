package plan

import (
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// childrenEffect does one step on the child nodes of a node: the engine asks
// each of them with a ChildStep and waits for all.
const childrenEffect = "children.execute_step"

// ChildStep asks a child node to do a step of its parent's. Parent and child
// are two nodes with a transaction each: the token makes the asking harmless
// to repeat.
type ChildStep struct {
	simple
	Step  node.Step
	Token string
}

// child is one step done for the parent. It leaves the child's provision state
// as it is, as Ironic does.
type child struct{}

// steps takes a step of any framework: the child is in none.
func (child) steps(d *decision) (steps []node.Step, err error) {
	for _, fw := range []node.Framework{node.CleanSteps, node.DeploySteps, node.ServiceSteps} {
		if steps, err = d.resolve(fw, d.n.Run.Listed, nil); err == nil {
			break
		}
	}
	return steps, err
}

func (child) done(d *decision, _ node.Run) {
	d.n.Child = &node.ChildRun{Token: d.n.Child.Token, Done: true}
}

func (child) fail(d *decision, _ node.Run, reason string) {
	d.n.Child = &node.ChildRun{Token: d.n.Child.Token, Done: true, Failure: reason}
}

func (child) timeout(s Settings) time.Duration { return s.CleanTimeout }

// childBusy reports whether a step for the parent is under way. It reserves
// the node even while it only waits: a verb would end it, and the parent would
// wait for ever.
func (d *decision) childBusy() bool { return d.n.Run != nil && d.n.Run.Activity == "child" }

// handle begins a step for the parent, unless it has been begun already.
func (e ChildStep) handle(d *decision) error {
	if d.n.Child != nil && d.n.Child.Token == e.Token {
		return nil
	}
	if d.f.EffectPending || d.n.Run != nil {
		return d.locked()
	}
	s := e.Step
	s.OnChildren, s.Children = false, nil
	switch {
	case s.Step == "hold":
		return node.Refuse(node.Invalid,
			"step hold cannot be executed on child node %s: no request could make its parent go on", d.n.UUID)
	case endsWithHeartbeat(s):
		return node.Refuse(node.Invalid,
			"step wait cannot be executed on child node %s without the argument seconds: no agent of it calls", d.n.UUID)
	}
	d.n.Child = &node.ChildRun{Token: e.Token}
	d.startRun(node.Run{Activity: "child", Listed: []node.Step{s}})
	return d.err
}
