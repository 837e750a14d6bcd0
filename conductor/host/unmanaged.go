package host

import "github.com/ferrite-metal/ferrite/proto/hostapi"

// hasBMCDetails: the document says how the machine's BMC is reached, or a part of it.
func (d *decision) hasBMCDetails() bool {
	return d.h.Spec.BMC.Address != "" || d.h.Spec.BMC.CredentialsName != ""
}

// handleNone is a document nobody has looked at before.
func (d *decision) handleNone() {
	if d.hasBMCDetails() {
		d.h.Status.OperationalStatus = hostapi.StatusOK
		d.fire(WithBMC)
		return
	}
	d.h.Status.OperationalStatus = hostapi.StatusDiscovered
	d.fire(WithoutBMC)
}

// handleUnmanaged waits for somebody to say how the machine is reached.
func (d *decision) handleUnmanaged() {
	if d.hasBMCDetails() {
		d.clearError()
		d.fire(WithBMC)
		return
	}
	d.requeueLater()
}

// handleRegistering is over: that it got here means that its node is registered.
func (d *decision) handleRegistering() {
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

func (d *decision) handleMatchProfile() {
	d.succeeded()
	d.fire(OlderDocument)
}
