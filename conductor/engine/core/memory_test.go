package core

import (
	"math"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Saves may be noted in another order than they were made: an edit on the
// heels of an outcome, and the outcome second. The debt must be right anyway,
// and the heartbeat that waited for its end must be heard.
func TestEffectIsNotedOutOfOrder(t *testing.T) {
	m := newMemory(func(string, *BootStage, *agentapi.Progress) {})
	save := func(rev int64, d effectChange) *agentapi.Heartbeat {
		return m.saved(node.Node{UUID: "n", Revision: rev, ProvisionState: node.CleanWait, Run: &node.Run{},
			Agent: node.Agent{Token: "t", URL: "u"}}, d)
	}
	save(5, effectAdded)
	if known, act, err := m.Beat("n", agentapi.Heartbeat{CallbackURL: "u", AgentToken: "t"}, time.Unix(1, 0)); !known ||
		act || err != nil {
		t.Fatalf("a heartbeat while an effect is pending: known %v, act %v, %v", known, act, err)
	}
	if hb := save(7, effectUnchanged); hb != nil {
		t.Fatal("the heartbeat is heard while an effect is pending")
	}
	if hb := save(6, effectEnded); hb == nil {
		t.Fatal("the heartbeat that waited is not heard")
	}
	if hb := save(5, effectAdded); hb != nil || m.nodes["n"].effectPending {
		t.Fatal("an old debt counts again")
	}
}

// TestCreatedAgainIsForgotten: a node created again with the UUID of a deleted one is new. Leftovers of a late event in
// memory do not count.
func TestCreatedAgainIsForgotten(t *testing.T) {
	e := New(Config{Store: mem.New(), BMCs: map[string]BMC{"redfish": nil}})
	old := node.Node{UUID: "1be26c0b-03f2-4d2e-ae87-c02d7f33c123", Revision: 8, Agent: node.Agent{Token: "t"}}
	e.Memory.saved(old, effectAdded)
	if _, err := e.CreateNode(t.Context(), node.Node{UUID: old.UUID, Driver: "redfish"}); err != nil {
		t.Fatal(err)
	}
	if r := e.Memory.nodes[old.UUID]; r.rev != 1 || r.effectPending || r.agent.Token != "" {
		t.Errorf("memory holds %+v of the new node", r)
	}
}

// TestETA: the remaining time of a step is shown as long as it is meaningful.
func TestETA(t *testing.T) {
	for total, want := range map[int64]time.Duration{100: 98 * time.Second, 2: 0, 1: 0, 0: 0, math.MaxInt64: 0} {
		m := newMemory(func(string, *BootStage, *agentapi.Progress) {})
		m.Report("n", agentapi.Progress{Step: "s", Done: 1, Total: total}, time.Unix(0, 0))
		m.Report("n", agentapi.Progress{Step: "s", Done: 2, Total: total}, time.Unix(1, 0))
		var s Status
		m.fill("n", &s)
		if s.Progress.ETA != want {
			t.Errorf("2 of %d after a second: %v left, want %v", total, s.Progress.ETA, want)
		}
	}
}

// TestCounts: nodes are counted by state and owner, also when a node gets another one of both.
func TestCounts(t *testing.T) {
	e := New(Config{Store: mem.New()})
	save := func(id, owner string, state node.State, rev int64) {
		e.Memory.saved(node.Node{UUID: id, Owner: owner, ProvisionState: state, Revision: rev}, effectUnchanged)
	}
	save("a", "blue", node.Cleaning, 1)
	save("b", "blue", node.Cleaning, 1)
	save("c", "red", node.Cleaning, 1)
	save("d", "", node.Cleaning, 1)
	save("b", "", node.Cleaning, 2)
	save("a", "blue", node.CleanWait, 2)
	blue := e.Memory.counts(nil)["blue"]
	red, none := e.Memory.counts(nil)["red"], e.CountUnowned()
	for _, c := range []struct {
		got  map[node.State]int
		want [2]int // cleaning, clean wait
	}{{blue, [2]int{0, 1}}, {none, [2]int{2, 0}}, {red, [2]int{1, 0}}} {
		if got := [2]int{c.got[node.Cleaning], c.got[node.CleanWait]}; got != c.want {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}
