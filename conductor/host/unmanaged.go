package host

import "github.com/ferrite-metal/ferrite/proto/hostapi"

// reachable: the document says how the machine's BMC is reached, or a part of it.
func (d *decision) reachable() bool {
	return d.h.Spec.BMC.Address != "" || d.h.Spec.BMC.CredentialsName != ""
}

// none is a document nobody has looked at before.
func (d *decision) none() {
	if d.reachable() {
		d.h.Status.OperationalStatus = hostapi.StatusOK
		d.fire(WithBMC)
		return
	}
	d.h.Status.OperationalStatus = hostapi.StatusDiscovered
	d.fire(WithoutBMC)
}

// unmanaged waits for somebody to say how the machine is reached.
func (d *decision) unmanaged() {
	if d.reachable() {
		d.clearError()
		d.fire(WithBMC)
		return
	}
	d.requeueLater()
}

// registering is over: that it got here means that its node is registered.
func (d *decision) registering() {
	d.succeeded()
	switch {
	case d.h.Spec.ExternallyProvisioned:
		d.fire(External)
	case d.inspectionDisabled():
		d.fire(NoInspection)
	default:
		d.fire(Registered)
	}
}

func (d *decision) matchProfile() {
	d.succeeded()
	d.fire(OlderDocument)
}
