package host

import (
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Failures are further and further apart, but never by very long.
func TestBackOff(t *testing.T) {
	for n := range 12 {
		least, most := time.Minute<<(min(max(n, 1), 9)-1), time.Minute<<min(max(n, 1), 9)
		if got := backOff(testUID, n); got < least || got > most {
			t.Errorf("after %d failures %s, want %s to %s", n, got, least, most)
		}
	}
	if backOff("a", 3) == backOff("b", 3) {
		t.Error("two hosts that failed at once are tried at once")
	}
}

// A host that is being deleted is refused as often as it may fail, and goes on. In between it waits, and reports during
// that pause are not counted again.
func TestRefusedToTheEnd(t *testing.T) {
	facts := newFacts(hostapi.StatePoweringOffBeforeDelete, node.Manageable, deleted)
	for n := 1; n <= giveUpAfter+1; n++ {
		facts.Host = Refused(facts, Decide(facts), "not allowed").Host
		if got := facts.Host.Status.ErrorCount; got != n {
			t.Fatalf("after %d refusals %d are counted", n, got)
		}
		facts.Now = facts.Now.Add(time.Second)
		if d := Refused(facts, Decision{Fails: hostapi.PowerManagementError}, "not allowed"); d.Host.Status.ErrorCount != n &&
			n <= giveUpAfter {
			t.Errorf("the same refusal counts again at once")
		}
		facts.Now = facts.Now.Add(deletionPauses[facts.Host.Status.Provisioning.State])
	}
	if got := made(t, facts).Host.Status.Provisioning.State; got != hostapi.StateDeleting {
		t.Errorf("the host stays %q", got)
	}
}

// While the next try of a deletion lasts, the host still shows the last failure.
func TestLastTryIsTold(t *testing.T) {
	facts := newFacts(hostapi.StatePoweringOffBeforeDelete, node.Manageable, deleted, lastError(silence),
		failing(hostapi.PowerManagementError, 2, time.Minute))
	d := made(t, facts)
	if st := d.Host.Status; spoken(d) != "power off once" || st.ErrorType != "" || st.ErrorMessage != "it failed" ||
		st.ErrorCount != 2 {
		t.Errorf("%s: %+v", spoken(d), st)
	}
	facts.Node.PowerState = node.PowerOff
	if st := made(t, facts).Host.Status; st.ErrorMessage != "" || st.ErrorCount != 0 {
		t.Errorf("after a success: %+v", st)
	}
}

// A refused action was not done: the host is as before, and says why.
func TestRefused(t *testing.T) {
	facts := newFacts(hostapi.StateAvailable, node.Manageable, poweredOff)
	d := Refused(facts, Decide(facts), "not allowed")
	if got := spoken(d); got != "power management error 1: not allowed" {
		t.Errorf("got %s", got)
	}
	facts.Host, facts.Now = d.Host, testNow.Add(time.Second)
	if again := Refused(facts, Decision{Fails: hostapi.PowerManagementError},
		"not allowed"); again.Host.Status.ErrorCount != 1 {
		t.Error("the same refusal counts again at once")
	}
}
