package host

import (
	"reflect"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// Action is one thing asked of the engine, as an operator would ask for it. But
// for CreateNode it is about the node behind the host.
type Action interface{ action() }

// CreateNode enrolls the machine.
type CreateNode struct{ Node node.Node }

// UpdateNode edits the node. Node is the wanted node; its Revision is the revision that the decision saw.
type UpdateNode struct{ Node node.Node }

// CreatePort records a network card of the machine.
type CreatePort struct{ Port node.Port }

// Provision asks for a verb.
type Provision struct{ Request plan.Request }

// SetPower asks for a power state; Timeout 0 is the engine's own. With Once, a BMC that does not answer is asked only
// once before the failure is reported.
type SetPower struct {
	Target  node.PowerState
	Timeout time.Duration
	Once    bool
}

// SetMaintenance takes the node out of service, or back into it.
type SetMaintenance struct {
	On     bool
	Reason string
}

// SetRAID sets the volumes that the next steps are to make.
type SetRAID struct{ Config map[string]any }

// AttachMedium puts an image into a virtual drive, and replaces the present one.
type AttachMedium struct{ Medium node.Medium }

// DetachMedia empties virtual drives of these kinds.
type DetachMedia struct{ Devices []string }

// Subscribe has the BMC send its events to a web server. Its result is the subscription's Id. A subscription to the
// same destination with the same context is taken for it, unless its Id is among Others: the answer to an earlier
// request may have been lost.
type Subscribe struct {
	Destination, Context string
	Headers              []map[string]string `json:",omitempty"`
	Others               []string            // Ids of other documents' subscriptions
}

// Unsubscribe ends a subscription.
type Unsubscribe struct{ ID string }

// DeleteNode forgets the machine.
type DeleteNode struct{}

func (CreateNode) action()     {}
func (UpdateNode) action()     {}
func (CreatePort) action()     {}
func (Provision) action()      {}
func (SetPower) action()       {}
func (SetMaintenance) action() {}
func (SetRAID) action()        {}
func (AttachMedium) action()   {}
func (DetachMedia) action()    {}
func (Subscribe) action()      {}
func (Unsubscribe) action()    {}
func (DeleteNode) action()     {}

// Apply makes the edit to a node read anew. A node that has changed meanwhile
// stays as it is, and is decided on again.
func (u UpdateNode) Apply(n *node.Node) error {
	if n.Revision != u.Node.Revision {
		return node.Refuse(node.Locked, "Node %s was changed while its host was reconciled.", n.UUID)
	}
	was, _ := n.Machine()
	*n = u.Node.Clone()
	if is, _ := n.Machine(); is != was {
		n.SharesMachine = false // it was right for the other machine
	}
	return nil
}

// edit asks for the node as change makes it, unless it is the same already.
func (d *decision) edit(change func(n *node.Node)) (Action, bool) {
	n := d.facts.Node.Clone()
	change(&n)
	if reflect.DeepEqual(n, d.facts.Node.Clone()) {
		return nil, false
	}
	return UpdateNode{n}, true
}

// verb asks for a plain verb.
func verb(v node.Event) Action { return Provision{plan.Request{Verb: v}} }

// occupies reports whether an action makes a node one of the busy.
func occupies(a Action) bool {
	p, ok := a.(Provision)
	if !ok {
		return false
	}
	switch p.Request.Verb {
	case node.Inspect, node.Provide, node.Clean, node.Deploy, node.Delete:
		return true
	default:
		return false
	}
}

// Occupies reports whether a decision makes its node one of the busy ones.
func (d Decision) Occupies() bool { return occupies(d.Action) }
