package host

import (
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// TestAway: a host whose node nobody can act on says why, and asks for nothing; it is no failure that counts. A host
// that needs no node is not concerned.
func TestAway(t *testing.T) {
	away := func(f *Facts) { f.Away = "nobody leads rack-a" }
	deleted := func(f *Facts) { at := hostapi.At(testNow); f.Host.DeletionTimestamp = &at }
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
		"detached": {newFacts(hostapi.StateProvisioned, "", away, func(f *Facts) {
			f.Host.Annotations[hostapi.AnnotationDetached] = ""
			f.Host.Status.OperationalStatus = hostapi.StatusDetached
		}), false},
	} {
		d := Decide(c.facts)
		st := d.Host.Status
		waits := st.ErrorMessage == c.facts.Away && st.OperationalStatus == hostapi.StatusError && d.Action == nil &&
			d.RequeueAt.Equal(testNow.Add(awayRequeue)) && st.ErrorCount == 0
		if waits != c.waits {
			t.Errorf("%s: waits: %t, want %t: %+v", name, waits, c.waits, st)
		}
		c.facts.Host.Status, c.facts.Away = st, ""
		for range 5 { // a step of the way back may be to save first
			c.facts.Host.Status = Decide(c.facts).Host.Status
		}
		if got := c.facts.Host.Status; c.waits && got.ErrorMessage == "nobody leads rack-a" {
			t.Errorf("%s: it still waits: %+v", name, got)
		}
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
