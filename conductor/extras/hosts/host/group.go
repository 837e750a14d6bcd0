package host

import (
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// awayRequeue is the time until the next look at a host in a group without a conductor that can act.
const awayRequeue = 10 * time.Second

// NodeGroup is the conductor group of a host's node, or the group that a new node goes to. Its leader acts on the node.
func NodeGroup(h hostapi.Host, n *node.Node) string {
	if n != nil {
		return n.ConductorGroup
	}
	group, _ := wantedGroup(h)
	return group
}

// MovesTo is the conductor group that a node is to be moved to; false for none.
func MovesTo(h hostapi.Host, n *node.Node) (group string, moves bool) {
	group, named := wantedGroup(h)
	return group, named && n != nil && n.ConductorGroup != group && h.DeletionTimestamp == nil
}

// Groups are the conductor groups that must have a leader for a host: its node's group, and the group that the node is
// to move to.
func Groups(h hostapi.Host, n *node.Node) []string {
	all := []string{NodeGroup(h, n)}
	if to, moves := MovesTo(h, n); moves {
		all = append(all, to)
	}
	return all
}

// wantedGroup is the conductor group that a host's annotation names, in the form that nodes have it.
func wantedGroup(h hostapi.Host) (group string, named bool) {
	group, named = h.Annotations[hostapi.AnnotationGroup]
	return strings.ToLower(strings.TrimSpace(group)), named
}

// setGroup moves a node into the group that the document names, if that group has a leader. Without a leader the node
// could not be moved again. The node of a host that is being deleted stays where it is.
func (d *decision) setGroup(n *node.Node) {
	if group, moves := MovesTo(d.h, n); moves && d.facts.CanMove {
		n.ConductorGroup = group
	}
}

// checkGroup leaves a host alone, with the reason, for as long as no conductor can act on its node. That is no failure
// of the machine: it is not counted, gives no deletion up, and leaves an earlier error as it is.
func (d *decision) checkGroup() bool {
	if d.facts.Away == "" || d.facts.Node == nil && !d.needsNode() {
		return true
	}
	d.away = true
	switch st := &d.h.Status; st.OperationalStatus {
	case hostapi.StatusDetached, hostapi.StatusServicing:
	default:
		st.OperationalStatus = hostapi.StatusError
	}
	d.RequeueAt = d.facts.Now.Add(awayRequeue)
	return false
}

// Parts of the message of a host in a group without a conductor that can act. It has no error type: Metal3 has none for
// that.
const (
	awayMark   = "waits for its conductor group: "
	beforeMark = "; before that: " // begins the earlier message
)

// awayMessage is why a host waits, and its earlier message.
func awayMessage(why, before string) string {
	if before != "" {
		before = beforeMark + before
	}
	return awayMark + why + before
}

// withoutAway is the status of a host as it was before it had to wait for its conductor group.
func withoutAway(st hostapi.HostStatus) hostapi.HostStatus {
	text, waits := strings.CutPrefix(st.ErrorMessage, awayMark)
	if !waits {
		return st
	}
	_, st.ErrorMessage, _ = strings.Cut(text, beforeMark)
	if st.OperationalStatus == hostapi.StatusError && st.ErrorType == "" {
		st.OperationalStatus = hostapi.StatusOK
	}
	return st
}

// needsNode reports whether a host without a node is to have one.
func (d *decision) needsNode() bool {
	if d.beingDeleted() {
		return false
	}
	switch d.state().Canonical() {
	case hostapi.StateNone, hostapi.StateUnmanaged, hostapi.StateDeleting:
		return false
	default:
		return d.detachAsked() == nil && d.h.Status.OperationalStatus != hostapi.StatusDetached
	}
}
