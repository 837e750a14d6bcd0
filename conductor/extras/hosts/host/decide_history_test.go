package host

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// The phases' times are kept, and the last image that was tried.
func TestHistory(t *testing.T) {
	facts := newFacts(hostapi.StateProvisioning, node.Active, status(func(st *hostapi.HostStatus) {
		st.OperationHistory.Provision.Start = hostapi.At(testNow.Add(-time.Hour))
	}))
	got := made(t, facts).Host.Status
	want := hostapi.Span{Start: hostapi.At(testNow.Add(-time.Hour)), End: hostapi.At(testNow)}
	if diff := cmp.Diff(want, got.OperationHistory.Provision); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(facts.Host.Spec.Image, got.LastAttemptedImage); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	facts = newFacts(hostapi.StateProvisioned, node.Manageable, noNode)
	facts.Secrets["bmc"] = hostapi.Secret{ObjectMeta: hostapi.ObjectMeta{ResourceVersion: "9"},
		Data: facts.Secrets["bmc"].Data}
	if start := made(t, facts).Host.Status.OperationHistory.Register.Start; !start.Equal(testNow) {
		t.Errorf("another registration has begun at %s", start)
	}
}
