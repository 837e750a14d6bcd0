package host

import (
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// checkInitiateDelete begins the deletion of a host that has a deletion timestamp.
func (d *decision) checkInitiateDelete() bool {
	if !d.beingDeleted() {
		return true
	}
	state, detach := d.state().Canonical(), d.detachAsked()
	if state != hostapi.StateDeleting && (detach != nil || d.h.Status.OperationalStatus == hostapi.StatusDetached) {
		if detach != nil && detach.DeleteAction == hostapi.DeleteDelay {
			return true
		}
		d.fire(DeleteDetached)
		return false
	}
	switch state {
	case hostapi.StateDeleting:
		return true
	case hostapi.StateDeprovisioning, hostapi.StatePoweringOffBeforeDelete:
		if d.specChanged() { // earlier failures do not count as failures of the deletion
			d.h.Status.ErrorCount = 0
		}
		if d.h.Status.ErrorType == "" || d.h.Status.ErrorCount <= giveUpAfter {
			return true
		}
		d.giveUp()
	default:
		d.fire(Delete)
	}
	return false
}

// giveUp continues with the deletion once it has failed often enough. A failure to switch off keeps its error, so that
// the state after tearing down does not try to switch off again. After any other failure, that state has its own tries.
func (d *decision) giveUp() {
	t := d.h.Status.ErrorType
	if t == hostapi.RegistrationError {
		d.succeeded()
		d.fire(Unreachable)
		return
	}
	if t != hostapi.PowerManagementError || d.state() == hostapi.StatePoweringOffBeforeDelete {
		d.succeeded()
	}
	d.fire(GaveUp)
}

// handleDeleting forgets the node, and then lets the document go.
func (d *decision) handleDeleting() {
	if d.deleteNode(false, hostapi.RegistrationError) {
		d.removeFinalizer()
	}
}

// deleteNode deletes the node without touching its machine; true when there is none
// any more. Work under way is awaited or, with force, ended where possible.
func (d *decision) deleteNode(force bool, t hostapi.ErrorType) (gone bool) {
	n := d.facts.Node
	if n == nil {
		return true
	}
	switch class := n.ProvisionState.Class(); {
	case class == node.Working:
		d.waitForNode()
		return false
	case class == node.Waiting && force && node.Requestable(n.ProvisionState, node.Abort):
		d.do(verb(node.Abort), t)
		return false
	case class == node.Waiting:
		d.waitForNode()
		return false
	}
	switch n.ProvisionState {
	case node.Enroll, node.Manageable, node.Available:
		if edit, differs := d.edit(func(n *node.Node) { n.InstanceUUID = "" }); differs {
			d.doKeepingError(edit, t)
			return false
		}
	default: // the engine forgets no node that is in use, unless it is in maintenance
		if !n.Maintenance {
			d.doKeepingError(SetMaintenance{On: true, Reason: "the host " + d.h.Namespace + "/" + d.h.Name + " is deleted"}, t)
			return false
		}
	}
	d.do(DeleteNode{}, t)
	return false
}
