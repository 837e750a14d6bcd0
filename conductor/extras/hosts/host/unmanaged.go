package host

import "github.com/ferrite-metal/ferrite/proto/hostapi"

// hasBMCDetails reports whether the document names the BMC's address or credentials.
func (d *decision) hasBMCDetails() bool {
	return d.h.Spec.BMC.Address != "" || d.h.Spec.BMC.CredentialsName != ""
}

// handleNone decides on a new document.
func (d *decision) handleNone() {
	if d.hasBMCDetails() {
		d.h.Status.OperationalStatus = hostapi.StatusOK
		d.fire(WithBMC)
		return
	}
	d.h.Status.OperationalStatus = hostapi.StatusDiscovered
	d.fire(WithoutBMC)
}

// handleUnmanaged waits for the BMC's address and credentials.
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
