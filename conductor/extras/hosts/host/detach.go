package host

import "github.com/ferrite-metal/ferrite/proto/hostapi"

// checkDetachedHost deletes the node of a detached host, whose machine runs on. The
// host stays as it is. Without the annotation it is registered again, and adopted.
func (d *decision) checkDetachedHost() bool {
	if asked := d.detachAsked(); asked != nil {
		switch d.state().Canonical() {
		case hostapi.StateProvisioned, hostapi.StateExternallyProvisioned, hostapi.StateAvailable:
			d.detach(asked.Force)
			return false
		case hostapi.StateDeleting: // it goes anyway
		default: // not before what is under way has ended
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
		// somebody has enrolled its machine again; or its service is waited for
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
