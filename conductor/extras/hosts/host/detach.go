package host

import "github.com/ferrite-metal/ferrite/proto/hostapi"

// checkDetachedHost deletes the node of a detached host, while the machine runs on. The host keeps its state. Once the
// annotation is gone, the host is registered again, and adopted.
func (d *decision) checkDetachedHost() bool {
	if asked := d.detachAsked(); asked != nil {
		switch d.state().Canonical() {
		case hostapi.StateProvisioned, hostapi.StateExternallyProvisioned, hostapi.StateAvailable:
			d.detach(asked.Force)
			return false
		case hostapi.StateDeleting: // it goes anyway
		default: // only after the work under way has ended
			if asked.Force {
				d.detach(true)
				return false
			}
		}
	}
	st := &d.h.Status
	if st.ErrorType == hostapi.DetachError {
		d.succeeded()
	}
	if st.OperationalStatus == hostapi.StatusDetached {
		st.OperationalStatus = hostapi.StatusOK
		if st.ErrorType != "" {
			st.OperationalStatus = hostapi.StatusError
		}
	}
	return true
}

func (d *decision) detach(force bool) {
	was := d.h.Status
	if !d.deleteNode(force, hostapi.DetachError) {
		switch was.OperationalStatus {
		// the machine is enrolled again, or is still in service
		case hostapi.StatusDetached, hostapi.StatusServicing:
			d.h.Status.OperationalStatus = was.OperationalStatus
		default:
		}
		return
	}
	if d.h.Status.ErrorType == hostapi.DetachError {
		d.succeeded()
	}
	d.h.Status.OperationalStatus = hostapi.StatusDetached
	d.requeueLater()
}
