package host

import (
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// handleProvisioned looks after a machine that runs its image. An externally
// provisioned machine that became ours without an image is cleaned.
func (d *decision) handleProvisioned() {
	if is := d.h.Status.Provisioning; translate.ImageURL(is.Image) == "" && translate.CustomMethod(is.CustomDeploy) == "" {
		d.takeSpecAsRunning()
	}
	if d.cancelled() {
		d.fire(Cancelled)
		return
	}
	d.manageSteadyState()
}

// handleExternallyProvisioned manages a host with a workload that was deployed by another system.
func (d *decision) handleExternallyProvisioned() {
	if d.h.Spec.ExternallyProvisioned {
		d.manageSteadyState()
		return
	}
	d.takeSpecAsRunning()
	d.fire(NotExternal)
}

// takeSpecAsRunning takes the document's image for the running one, where the status has none: the host was externally
// provisioned before, or its status came from elsewhere without that. Nothing is written, and nothing lost.
func (d *decision) takeSpecAsRunning() {
	p := &d.h.Status.Provisioning
	if d.h.Spec.Image != nil {
		p.Image = d.h.Spec.Image
	}
	if d.h.Spec.CustomDeploy != nil {
		p.CustomDeploy = d.h.Spec.CustomDeploy
	}
}

func (d *decision) manageSteadyState() {
	if !d.holdLost() && d.ensureAdopted() {
		d.managePower()
	}
}

// ensureAdopted reports whether the node is active. A node that was registered anew
// adopts its machine untouched.
func (d *decision) ensureAdopted() bool {
	const t = hostapi.ProvisionedRegistrationError
	switch n := d.facts.Node; n.ProvisionState {
	case node.Manageable:
		if d.state() == hostapi.StateDeprovisioning { // its disks are cleaned on the way to available
			return true
		}
		d.do(verb(node.Adopt), t)
		return false
	case node.Adopting:
		d.waitForNode()
		return false
	case node.AdoptFailed:
		if d.failOrRetry(t, "the machine could not be taken over: "+n.LastError) {
			d.do(verb(node.Adopt), t)
		}
		return false
	case node.Active:
		if n.Maintenance && n.Fault == "" { // set by hand: hosts are kept from us by the paused annotation
			d.do(SetMaintenance{}, t)
			return false
		}
	default:
	}
	if d.h.Status.ErrorType == t {
		d.succeeded()
	}
	return true
}
