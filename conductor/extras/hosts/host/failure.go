package host

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// giveUpAfter is how many failures in a row a host that is to be deleted may have
// before it is deleted all the same.
const giveUpAfter = 3

// deletionPauses are the pauses between the tries to leave a host clean and off. They are shorter than after other
// failures, since a user waits. Where disks are to be cleaned, all of them together outlast the restart of a BMC, which
// takes some minutes. In both states they outlast the minute in which a failed BMC is not asked at all (MaxBackOff of
// conductor/bmc/controller). So a BMC that answers again is never missed.
var deletionPauses = map[hostapi.State]time.Duration{
	hostapi.StateDeprovisioning:          75 * time.Second,
	hostapi.StatePoweringOffBeforeDelete: 25 * time.Second,
}

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
	d.RequeueAt = d.facts.Now.Add(d.retryDelay(*st))
	if d.triesCounted() {
		st.ErrorMessage += d.remainingTries()
	}
}

// triesCounted reports whether the host is being deleted in a state that gives up after a number of failures.
func (d *decision) triesCounted() bool {
	return d.beingDeleted() && deletionPauses[d.state()] > 0
}

// triesMark begins the text that is added to the message of a counted failure.
const triesMark = "; that was try "

// remainingTries is the text after a counted failure: its number, and the next try or the end.
func (d *decision) remainingTries() string {
	text := fmt.Sprintf("%s%d of %d", triesMark, min(d.h.Status.ErrorCount, giveUpAfter+1), giveUpAfter+1)
	if d.h.Status.ErrorCount > giveUpAfter {
		d.requeueNow()
		return text + ": the host is deleted all the same"
	}
	return text + " before the host is deleted all the same, the next is at " + d.RequeueAt.UTC().Format("15:04:05 MST")
}

// retryDelay is how long a host that has failed is left alone.
func (d *decision) retryDelay(st hostapi.HostStatus) time.Duration {
	if d.triesCounted() {
		return deletionPauses[d.state()]
	}
	return backOff(d.h.UID, failures(st))
}

// failures is the number of failures in a row. Failures of an image keep counting over the deprovisioning in between,
// which is a success.
func failures(st hostapi.HostStatus) int {
	if st.ErrorType == hostapi.ProvisioningError {
		return max(st.ErrorCount, st.ProvisioningFailCount+1)
	}
	return st.ErrorCount
}

// failOrRetry records a failure at the machine. It reports true when the time for
// another try has come.
func (d *decision) failOrRetry(t hostapi.ErrorType, message string) (retry bool) {
	switch {
	case d.h.Status.ErrorType != t:
		d.fail(t, message)
	case d.retryDue():
		return true
	default:
		d.awaitRetry()
	}
	return false
}

// failUntilChanged records a failure that ends with a change by an operator. It is
// checked again from time to time, since not every change is noticed: a file on a web server is not.
func (d *decision) failUntilChanged(t hostapi.ErrorType, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	was, _, _ := strings.Cut(d.h.Status.ErrorMessage, triesMark)
	if d.h.Status.ErrorType == t && was == message && !d.retryDue() {
		d.awaitRetry()
	} else {
		d.fail(t, message)
	}
	if latest := d.facts.Now.Add(waitRequeue); d.RequeueAt.After(latest) {
		d.RequeueAt = latest
	}
}

// awaitRetry leaves a host that has failed alone until it is time.
func (d *decision) awaitRetry() { d.RequeueAt = d.retryAt() }

// retryDue reports whether the back-off has ended, or whether the document, or anything it depends on, has changed
// since the failure.
func (d *decision) retryDue() bool {
	return d.specChanged() || d.changedSince(d.facts.Host.Status.LastUpdated) || !d.facts.Now.Before(d.retryAt())
}

// changedSince reports whether a document or node that the host depends on has changed since a failure: that change may
// be the remedy. Counted tries keep their pauses, which are for the BMC.
func (d *decision) changedSince(failed *hostapi.Time) bool {
	return failed != nil && d.facts.ChangedAt.After(failed.Time) && !d.triesCounted()
}

// retryAt is when to try again: at once after a failure that is still to come,
// which is one of a clock that has been set back.
func (d *decision) retryAt() time.Time {
	st := d.facts.Host.Status
	if st.LastUpdated == nil || st.LastUpdated.After(d.facts.Now) {
		return d.facts.Now
	}
	return st.LastUpdated.Add(d.retryDelay(st))
}

// specChanged reports whether the spec is newer than the conditions.
func (d *decision) specChanged() bool {
	all := d.facts.Host.Status.Conditions
	return len(all) > 0 && all[0].ObservedGeneration != d.h.Generation
}

// clearError removes the error, but not the number of failures, which the next success resets.
func (d *decision) clearError() {
	st := &d.h.Status
	st.OperationalStatus, st.ErrorType, st.ErrorMessage = hostapi.StatusOK, "", ""
}

// clearErrorForTry is clearError while something is tried. A host that is being deleted
// keeps the message of the last try.
func (d *decision) clearErrorForTry() {
	last := d.h.Status.ErrorMessage
	d.clearError()
	if d.triesCounted() {
		d.h.Status.ErrorMessage = last
	}
}

// succeeded ends a row of failures.
func (d *decision) succeeded() {
	d.clearError()
	d.h.Status.ErrorCount = 0
}
