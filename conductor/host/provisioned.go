package host

import (
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// provisioned looks after a machine that runs its image. One that was somebody
// else's, and came to be ours without an image, runs nothing that we know of: its
// disks are cleaned, also when an image is named before that has begun.
func (d *decision) provisioned() {
	is := d.h.Status.Provisioning
	unknown := urlOf(is.Image) == "" && customMethod(is.CustomDeploy) == ""
	if unknown || d.cancelled() {
		d.fire(Cancelled)
		return
	}
	d.steady()
}

// externallyProvisioned looks after one that runs somebody else's. When it comes
// to be ours, what the document says is what it runs: nothing is written.
func (d *decision) externallyProvisioned() {
	if d.h.Spec.ExternallyProvisioned {
		d.steady()
		return
	}
	p := &d.h.Status.Provisioning
	if d.h.Spec.Image != nil {
		p.Image = d.h.Spec.Image
	}
	if d.h.Spec.CustomDeploy != nil {
		p.CustomDeploy = d.h.Spec.CustomDeploy
	}
	d.fire(NotExternal)
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
	switch n := d.s.Node; n.ProvisionState {
	case node.Manageable:
		if d.state() == hostapi.StateDeprovisioning { // its disks are cleaned on the way to available
			return true
		}
		d.do(verb(node.Adopt), t)
		return false
	case node.Adopting:
		d.wait()
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
