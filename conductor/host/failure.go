package host

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// giveUpAfter is how many failures in a row a host that is to be deleted may have
// before it is deleted all the same.
const giveUpAfter = 3

// maxBackOff bounds the exponent of the back-off: eight hours.
const maxBackOff = 9

// backOff is how long to leave a host alone after its nth failure in a row:
// between a half and the whole of 2^n minutes, as Metal3 has it. Where in between
// depends on the host, so that a rack that failed at once is not tried at once.
func backOff(uid string, n int) time.Duration {
	n = min(max(n, 1), maxBackOff)
	h := fnv.New32a()
	fmt.Fprintf(h, "%s/%d", uid, n)
	half := time.Minute << (n - 1)
	return half + time.Duration(h.Sum32()%1000)*half/1000
}

// fail records one more failure.
func (d *decision) fail(t hostapi.ErrorType, message string) {
	st := &d.h.Status
	st.OperationalStatus, st.ErrorType, st.ErrorMessage = hostapi.StatusError, t, message
	st.ErrorCount++
	d.Again = d.s.Now.Add(backOff(d.h.UID, failures(*st)))
}

// failures is how often a host has failed in a row. That of an image goes on to
// count over the deprovisioning in between, which is a success.
func failures(st hostapi.HostStatus) int {
	if st.ErrorType == hostapi.ProvisioningError {
		return max(st.ErrorCount, st.ProvisioningFailCount+1)
	}
	return st.ErrorCount
}

// failed deals with what has failed at the machine: it is recorded, and when its
// time has come the answer is that it may be tried again.
func (d *decision) failed(t hostapi.ErrorType, message string) (again bool) {
	switch {
	case d.h.Status.ErrorType != t:
		d.fail(t, message)
	case d.due():
		return true
	default:
		d.linger()
	}
	return false
}

// refuse deals with what cannot be done before somebody changes something. It
// is looked at again from time to time: the change may be one nobody tells us of.
func (d *decision) refuse(t hostapi.ErrorType, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if st := d.h.Status; st.ErrorType == t && st.ErrorMessage == message && !d.due() {
		d.linger()
		return
	}
	d.fail(t, message)
}

// linger leaves a host that has failed alone until it is time.
func (d *decision) linger() { d.Again = d.retryAt() }

// due: the time to try again has come, or somebody has changed the document
// since it failed.
func (d *decision) due() bool { return d.edited() || !d.s.Now.Before(d.retryAt()) }

// retryAt is when to try again: at once after a failure that is still to come,
// which is one of a clock that has been set back.
func (d *decision) retryAt() time.Time {
	st := d.s.Host.Status
	if st.LastUpdated == nil || st.LastUpdated.After(d.s.Now) {
		return d.s.Now
	}
	return st.LastUpdated.Add(backOff(d.h.UID, failures(st)))
}

// edited: the spec is another than the one the conditions were told of.
func (d *decision) edited() bool {
	all := d.s.Host.Status.Conditions
	return len(all) > 0 && all[0].ObservedGeneration != d.h.Generation
}

// clearError forgets what has failed, but not how often it did: that ends with
// the next success.
func (d *decision) clearError() {
	st := &d.h.Status
	st.OperationalStatus, st.ErrorType, st.ErrorMessage = hostapi.StatusOK, "", ""
}

// succeeded ends a row of failures.
func (d *decision) succeeded() {
	d.clearError()
	d.h.Status.ErrorCount = 0
}
