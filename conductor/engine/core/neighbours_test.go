package core_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// TestSilentBMCsDoNotHoldUpOthers verifies 400 nodes with silent BMCs. A healthy node is cleaned meanwhile, and a new
// one is enrolled, about as fast as without them.
func TestSilentBMCsDoNotHoldUpOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.NewBoards(t)
		b.Settings.SyncPowerInterval = 0 // else the power sync is the first to find out
		b.Start()
		defer b.Close()
		timed := func(uuid string, verb node.Event, want node.State) time.Duration {
			began := time.Now()
			b.Ask(uuid, verb, want)
			return time.Since(began)
		}
		healthy, fresh := b.Managed(), b.Create("redfish")
		cleaned := timed(healthy.UUID, node.Provide, node.Available)
		enrolled := timed(fresh.UUID, node.Manage, node.Manageable)
		b.Ask(healthy.UUID, node.Manage, node.Manageable)

		dead := map[string]bool{}
		for range 400 {
			dead[b.Create("redfish").UUID] = true
		}
		b.Set(func() { b.Dead = dead })
		fresh = b.Create("redfish")
		for id := range dead {
			if err := b.E.Provision(b.Ctx, id, plan.Request{Verb: node.Manage}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Second)
		if took := timed(healthy.UUID, node.Provide, node.Available); took > 2*cleaned {
			t.Errorf("cleaned in %s, %s without silent BMCs", took, cleaned)
		}
		// By now most of the silent BMCs are known. A new one waits for its turn among the others.
		if took := timed(fresh.UUID, node.Manage, node.Manageable); took > enrolled+time.Minute {
			t.Errorf("enrolled in %s, %s without silent BMCs", took, enrolled)
		}
		for id := range dead { // each fails by itself, with a reason
			if n := b.Settled(id); n.ProvisionState != node.Enroll || n.LastError == "" {
				t.Fatalf("node %s with a silent BMC is %q: %q", id, n.ProvisionState, n.LastError)
			}
		}
	})
}
