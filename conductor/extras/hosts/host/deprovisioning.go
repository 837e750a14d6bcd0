package host

import (
	"cmp"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// handleDeprovisioning takes away what the machine runs. A host that is to be deleted
// goes on even if that does not succeed.
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

// ensurePoweredOff is asked first of a machine that nobody wants any more: whether its
// BMC answers is then known in tries that people can see, and a tear-down or a
// cleaning that would need it is not begun in vain.
func (d *decision) ensurePoweredOff() bool {
	n := d.facts.Node
	switch class := n.ProvisionState.Class(); {
	case class != node.Stable && class != node.Failed, n.ProvisionState == node.Available, d.h.Spec.DisablePowerOff:
		return true
	}
	return d.powerOff(hostapi.RebootHard)
}

// tearDown asks for the end of whatever there is that can be ended. Whether disks
// are cleaned is for the document to say to the last moment, but a node that
// waits for its ramdisk cannot be told any more.
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

// finishDeprovisioning forgets what the machine ran.
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
