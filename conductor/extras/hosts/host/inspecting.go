package host

import (
	"cmp"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// handleInspecting inspects the machine. The annotation that asks for it
// once more goes when it has begun.
func (d *decision) handleInspecting() {
	if d.inspectionDisabled() {
		d.succeeded()
		d.fire(NoInspection)
		return
	}
	n := d.facts.Node
	switch n.ProvisionState {
	case node.Available:
		d.do(verb(node.Manage), hostapi.InspectionError)
	case node.Manageable:
		if d.inspectAsked() || n.InspectionFinishedAt == nil {
			d.startInspection()
			return
		}
		d.recordInspection()
	case node.InspectFailed:
		if !aborted(n) &&
			!d.failOrRetry(hostapi.InspectionError,
				cmp.Or(n.LastError, "the inspection failed, and the node does not say why")) {
			return
		}
		d.startInspection()
	case node.InspectWait:
		if _, asked := d.rebootAsked(true); asked {
			d.clearReboot()
			d.do(verb(node.Abort), hostapi.InspectionError)
			return
		}
		d.waitForNode()
	default:
		d.unexpected(hostapi.InspectionError)
	}
}

// aborted reports whether a user has ended the inspection, which is no failure.
func aborted(n *node.Node) bool { return strings.Contains(strings.ToLower(n.LastError), "abort") }

// unexpected handles a node in a state that this host has not asked for. A node at work will leave it; any other needs
// a person.
func (d *decision) unexpected(t hostapi.ErrorType) {
	n := d.facts.Node
	switch n.ProvisionState.Class() {
	case node.Working, node.Waiting:
		d.waitForNode()
	default:
		d.failUntilChanged(t,
			"node %s is %q, from which a host that is %q cannot continue: bring it to %q (ferrite node), or delete it to have "+
				"it registered anew",
			n.UUID, n.ProvisionState, d.state(), node.Manageable)
	}
}

// startInspection begins an inspection with the interface that the document asks for. The interface can be changed only
// while the node is manageable.
func (d *decision) startInspection() {
	a, err := translate.AccessOf(d.h.Spec.BMC)
	if err != nil {
		d.failUntilChanged(hostapi.InspectionError, "%v", err)
		return
	}
	if edit, differs := d.edit(func(n *node.Node) { d.source().SetInspect(n, a) }); differs {
		if d.facts.Node.ProvisionState == node.InspectFailed {
			edit = verb(node.Manage)
		}
		d.doKeepingError(edit, hostapi.InspectionError)
		return
	}
	if d.inspectAsked() {
		delete(d.h.Annotations, hostapi.AnnotationInspect)
	}
	d.clearReboot()
	d.do(verb(node.Inspect), hostapi.InspectionError)
}

// recordInspection takes over the result of the inspection.
func (d *decision) recordInspection() {
	found, err := translate.Hardware(d.facts.Inspected)
	if err != nil {
		d.failUntilChanged(hostapi.InspectionError, "the inspection data of node %s cannot be read: %v",
			d.facts.Node.UUID, err)
		return
	}
	d.succeeded()
	d.h.Status.Hardware, d.Hardware = found, found
	d.fire(Inspected)
}
