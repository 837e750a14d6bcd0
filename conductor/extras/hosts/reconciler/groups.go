package reconciler

import (
	"context"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Groups are the conductor groups of a cluster beside the default one. The leader of the default group reconciles the
// hosts of all groups. It reads nodes of all groups from the database, but only a group's own leader acts on its nodes.
type Groups interface {
	// Act has the leader of a group do one thing to a node that is still at its revision, or make it, and returns the
	// result of the function Act. The error is a refusal of the engine there, an *AwayError, or a failure of that node
	// alone.
	Act(ctx context.Context, group string, n node.Node, a host.Action) (result string, err error)
	// MediaSlots has the leader of a group ask a BMC, with the same errors.
	MediaSlots(ctx context.Context, group string, n node.Node) ([]node.MediaSlot, error)
	// Led reports whether a conductor leads a group at the moment.
	Led(group string) bool
	// Silent reports whether the leader of a group has just not answered, and is asked by one call at a time.
	Silent(group string) bool
	// Away is the reason why no conductor can act on the nodes of a group, for longer than a takeover takes; "" when
	// one can.
	Away(group string) string
	// CountNodes is how many nodes of these groups are in one of some states, of the groups that a conductor leads.
	CountNodes(ctx context.Context, in map[node.State]bool) (int, error)
}

// AwayError is a leader of a group that was not asked, or an answer that is not known.
type AwayError struct {
	Group string
	Err   error
}

func (e *AwayError) Error() string {
	return fmt.Sprintf("the nodes of the conductor group %q cannot be acted on: %v", e.Group, e.Err)
}

// Unwrap is why.
func (e *AwayError) Unwrap() error { return e.Err }

// canMove reports whether the group that a node is to be moved to has a leader.
func (r *Reconciler) canMove(facts *host.Facts) bool {
	to, moves := host.MovesTo(facts.Host, facts.Node)
	return moves && (to == "" || r.Groups != nil && r.Groups.Led(to))
}

// away is the reason why no conductor can act on a host's node; "" when one can.
func (r *Reconciler) away(facts *host.Facts) string {
	if r.Groups == nil && facts.Node != nil { // it was in a cluster once
		return ""
	}
	return r.awayOf(host.NodeGroup(facts.Host, facts.Node))
}

// cannotMove is the reason why a host's node does not move to the group that it is to be in; "" when it can.
func (r *Reconciler) cannotMove(facts *host.Facts) string {
	to, moves := host.MovesTo(facts.Host, facts.Node)
	if !moves {
		return ""
	}
	return r.awayOf(to)
}

func (r *Reconciler) awayOf(group string) string {
	switch {
	case group == "":
		return ""
	case r.Groups != nil:
		return r.Groups.Away(group)
	}
	return fmt.Sprintf("the host's annotation names the conductor group %q, and this conductor is in no cluster, which "+
		"alone has groups: remove the annotation", group)
}

// mediaSlots has the leader of a node's group ask the BMC for its virtual drives.
func (r *Reconciler) mediaSlots(ctx context.Context, n *node.Node) (slots []node.MediaSlot, err error) {
	r.withoutWorker(n.ConductorGroup, func() {
		if r.isOwn(n.ConductorGroup) {
			slots, err = r.engine.MediaSlots(ctx, n.UUID)
		} else {
			slots, err = r.Groups.MediaSlots(ctx, n.ConductorGroup, *n)
		}
	})
	return slots, err
}

// isOwn reports whether this conductor acts on the nodes of a group itself.
func (r *Reconciler) isOwn(group string) bool { return r.Groups == nil || group == "" }

// withoutWorker waits for the leader of a group, or for others that this conductor asks, and lends the worker to
// another host meanwhile. The queue's places bound how many hosts of a group do so. A group without a leader refuses at
// once, and any name in a host's annotation makes one: its hosts keep their workers.
func (r *Reconciler) withoutWorker(group string, do func()) {
	if !r.isOwn(group) && !r.Groups.Led(group) {
		do()
		return
	}
	<-r.workers
	defer func() { r.workers <- struct{}{} }()
	do()
}

// GroupChanged has all hosts with a node of a group looked at: the group has another leader, or none.
func (r *Reconciler) GroupChanged(group string) { r.enqueue(r.known.inGroup(group)...) }
