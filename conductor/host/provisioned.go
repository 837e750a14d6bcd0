package host

import (
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// provisioned looks after a machine that runs its image. One that was somebody
// else's, and came to be ours without an image, is cleaned.
func (d *decision) provisioned() {
	if is := d.h.Status.Provisioning; urlOf(is.Image) == "" && customMethod(is.CustomDeploy) == "" {
		d.recognize()
	}
	if d.cancelled() {
		d.fire(Cancelled)
		return
	}
	d.steady()
}

// externallyProvisioned looks after one that runs somebody else's.
func (d *decision) externallyProvisioned() {
	if d.h.Spec.ExternallyProvisioned {
		d.steady()
		return
	}
	d.recognize()
	d.fire(NotExternal)
}

// recognize takes what the document names for what the machine runs, where nobody
// has told: it has come to be ours, or its status has come from elsewhere without
// that. Nothing is written, and nothing lost.
func (d *decision) recognize() {
	p := &d.h.Status.Provisioning
	if d.h.Spec.Image != nil {
		p.Image = d.h.Spec.Image
	}
	if d.h.Spec.CustomDeploy != nil {
		p.CustomDeploy = d.h.Spec.CustomDeploy
	}
}

func (d *decision) steady() {
	if d.adopted() {
		d.managePower()
	}
}

// adopted: the node knows that its machine is at work. One that was registered
// anew takes it over untouched.
func (d *decision) adopted() bool {
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
		if d.failed(t, "the machine could not be taken over: "+n.LastError) {
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
