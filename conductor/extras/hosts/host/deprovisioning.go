package host

import (
	"cmp"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// handleDeprovisioning removes the machine's workload. A host that is being deleted goes on even if that fails.
func (d *decision) handleDeprovisioning() {
	const t = hostapi.ProvisioningError
	n := d.facts.Node
	if n == nil {
		d.fire(Forgotten)
		return
	}
	p := d.h.Status.Provisioning
	if (translate.ImageURL(p.Image) != "" || p.CustomDeploy != nil) && !d.ensureAdopted() {
		return
	}
	if d.beingDeleted() && !d.ensurePoweredOff() {
		return
	}
	switch n.ProvisionState {
	case node.Available:
		d.finishDeprovisioning()
	case node.Manageable: // after cleaning has failed, or registered anew
		d.do(verb(node.Provide), t)
	case node.Error:
		if d.failOrRetry(t, cmp.Or(n.LastError, "the tear-down failed, and the node does not say why")) {
			d.do(verb(node.Delete), t)
		}
	case node.CleanFailed:
		if d.failOrRetry(t, "cleaning failed: "+n.LastError) {
			d.makeManageable(t)
		}
	case node.DeployHold:
		d.do(verb(node.Abort), t)
	default:
		d.tearDown()
	}
}

// ensurePoweredOff switches the machine off before anything else. A BMC that does not answer then shows in counted
// tries, and no tear-down or cleaning that needs it begins in vain.
func (d *decision) ensurePoweredOff() bool {
	n := d.facts.Node
	switch class := n.ProvisionState.Class(); {
	case class != node.Stable && class != node.Failed, n.ProvisionState == node.Available, d.h.Spec.DisablePowerOff:
		return true
	}
	return d.powerOff(hostapi.RebootHard)
}

// tearDown ends the node's instance or its failed state, if its state allows. The document decides until the last
// moment whether disks are cleaned, but not for a node that waits for its ramdisk: its plan is fixed.
func (d *decision) tearDown() {
	const t = hostapi.ProvisioningError
	n := d.facts.Node
	switch {
	case node.Requestable(n.ProvisionState, node.Delete):
		d.do(verb(node.Delete), t)
	case n.ProvisionState.Class() == node.Failed && node.Requestable(n.ProvisionState, node.Manage):
		d.do(verb(node.Manage), t)
	default:
		d.unexpected(t)
	}
}

// finishDeprovisioning clears the former workload from the status.
func (d *decision) finishDeprovisioning() {
	p := &d.h.Status.Provisioning
	p.Image, p.CustomDeploy = nil, nil
	d.clearSettings()
	d.clearReboot()
	d.succeeded()
	if d.beingDeleted() {
		d.fire(DeprovisionedForDelete)
		return
	}
	d.fire(Deprovisioned)
}
