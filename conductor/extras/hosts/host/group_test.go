package host

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// TestAway: a host in a group without a conductor that can act reports the reason, and asks for nothing; that is no
// failure that counts. A host that needs no node is not concerned.
func TestAway(t *testing.T) {
	away := func(f *Facts) { f.Away = "nobody leads rack-a" }
	for name, c := range map[string]struct {
		facts Facts
		waits bool
	}{
		"new":                     {newFacts(hostapi.StateNone, "", away), false},
		"unmanaged":               {newFacts(hostapi.StateUnmanaged, "", away), false},
		"to be registered":        {newFacts(hostapi.StateRegistering, "", away), true},
		"provisioning":            {newFacts(hostapi.StateProvisioning, node.Deploying, away), true},
		"provisioned":             {newFacts(hostapi.StateProvisioned, node.Active, away), true},
		"deleted":                 {newFacts(hostapi.StateDeprovisioning, node.CleanFailed, away, deleted), true},
		"deleted, without a node": {newFacts(hostapi.StateDeleting, "", away, deleted), false},
		"deleted, never made":     {newFacts(hostapi.StateRegistering, "", away, deleted), false},
		"deleted, node lost":      {newFacts(hostapi.StateDeprovisioning, "", away, deleted), false},
		"detached": {newFacts(hostapi.StateProvisioned, "", away, func(f *Facts) {
			f.Host.Annotations[hostapi.AnnotationDetached] = ""
			f.Host.Status.OperationalStatus = hostapi.StatusDetached
		}), false},
	} {
		d := Decide(c.facts)
		st := d.Host.Status
		waits := strings.Contains(st.ErrorMessage, c.facts.Away) && st.OperationalStatus == hostapi.StatusError &&
			d.Action == nil &&
			d.RequeueAt.Equal(testNow.Add(awayRequeue)) && st.ErrorCount == 0 &&
			st.ErrorType == ""
		if waits != c.waits {
			t.Errorf("%s: waits: %t, want %t: %+v", name, waits, c.waits, st)
		}
		c.facts.Host.Status, c.facts.Away = st, ""
		for range 5 { // a step of the way back may be to save first
			c.facts.Host.Status = Decide(c.facts).Host.Status
		}
		if got := c.facts.Host.Status; c.waits && strings.Contains(got.ErrorMessage, "nobody leads rack-a") {
			t.Errorf("%s: it still waits: %+v", name, got)
		}
	}
}

// TestAwayKeepsErrors: an earlier error outlasts the time without a conductor, and its next try comes no later. Nothing
// is written twice meanwhile.
func TestAwayKeepsErrors(t *testing.T) {
	for name, facts := range map[string]Facts{
		"none":         newFacts(hostapi.StateAvailable, node.Available),
		"registration": newFacts(hostapi.StateInspecting, node.Enroll, failing(hostapi.RegistrationError, 4, time.Minute)),
		"provisioning": newFacts(hostapi.StateProvisioning, node.DeployFailed,
			failing(hostapi.ProvisioningError, 2, time.Second)),
		"a deletion": newFacts(hostapi.StateDeprovisioning, node.CleanFailed, deleted,
			failing(hostapi.ProvisioningError, 2, time.Second)),
	} {
		facts.Host.Status = Decide(facts).Host.Status // with its conditions
		was := facts.Host.Status
		facts.Away = "nobody leads rack-a"
		first := Decide(facts)
		facts.Host.Status = first.Host.Status
		again := Decide(facts)
		if diff := cmp.Diff(first.Host.Status, again.Host.Status); diff != "" || len(first.Events) != 1 ||
			len(again.Events) > 0 {
			t.Errorf("%s: events %v, then %v; it is written twice (-first +again):\n%s", name, first.Events, again.Events, diff)
		}
		if got := again.Host.Status; got.ErrorType != was.ErrorType || got.ErrorCount != was.ErrorCount ||
			!strings.Contains(got.ErrorMessage, facts.Away) || !strings.HasSuffix(got.ErrorMessage, was.ErrorMessage) {
			t.Errorf("%s: while away: %+v", name, got)
		}
		got := withoutAway(again.Host.Status)
		got.Conditions = was.Conditions
		if diff := cmp.Diff(was, got); diff != "" {
			t.Errorf("%s: afterwards (-want +got):\n%s", name, diff)
		}
	}
}

// TestSpecChangedWhileAway: a correction of the document that was made meanwhile is tried at once.
func TestSpecChangedWhileAway(t *testing.T) {
	facts := newFacts(hostapi.StateInspecting, node.Enroll, failing(hostapi.RegistrationError, 4, time.Minute),
		lastError("no answer"))
	facts.Host.Status = Decide(facts).Host.Status
	facts.Away = "nobody leads rack-a"
	facts.Host.Generation++
	facts.Host.Status = Decide(facts).Host.Status
	facts.Away = ""
	if d := Decide(facts); d.Action == nil {
		t.Errorf("it waits: %+v", d.Host.Status)
	}
}

// TestCannotMove: a host with a node that cannot be moved goes on where it is, and reports that.
func TestCannotMove(t *testing.T) {
	facts := newFacts(hostapi.StateAvailable, node.Available, imageIs("http://images/a"),
		annotate(hostapi.AnnotationGroup, "rack-x"))
	facts.CannotMove = "there is no rack-x"
	st := Decide(facts).Host.Status
	ready := slices.IndexFunc(st.Conditions, func(c hostapi.Condition) bool { return c.Type == hostapi.ConditionReady })
	if st.Provisioning.State != hostapi.StateProvisioning || st.ErrorMessage != "" ||
		st.Conditions[ready].Message != facts.CannotMove {
		t.Errorf("the status is %+v", st)
	}
}

// TestMovesTo: a node is moved where the annotation says so, unless its host is being deleted.
func TestMovesTo(t *testing.T) {
	n := &node.Node{ConductorGroup: "rack-a"}
	for name, c := range map[string]struct {
		annotation string
		node       *node.Node
		deleted    bool
		group      string
		moves      bool
	}{
		"no annotation":    {"-", n, false, "", false},
		"the same":         {" RACK-A", n, false, "rack-a", false},
		"another":          {"rack-b", n, false, "rack-b", true},
		"the default one":  {"", n, false, "", true},
		"of no node":       {"rack-b", nil, false, "rack-b", false},
		"of a deleted one": {"rack-b", n, true, "rack-b", false},
	} {
		h := hostapi.Host{}
		if c.annotation != "-" {
			h.Annotations = map[string]string{hostapi.AnnotationGroup: c.annotation}
		}
		if c.deleted {
			at := hostapi.At(testNow)
			h.DeletionTimestamp = &at
		}
		if group, moves := MovesTo(h, c.node); group != c.group || moves != c.moves {
			t.Errorf("%s: %q, %t", name, group, moves)
		}
	}
}
