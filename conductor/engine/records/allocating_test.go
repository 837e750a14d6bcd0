package records_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/conductor/store/storetest"
)

// decided waits until no allocation is without an answer, and returns them.
func decided(t testing.TB, s core.Store) []node.Allocation {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		all, err := s.Catalogs().Allocations.List(context.Background(), "")
		if err != nil {
			t.Fatal(err)
		}
		waiting := 0
		for _, a := range all {
			if a.State == node.Allocating {
				waiting++
			}
		}
		if waiting == 0 {
			return all
		}
	}
	t.Fatal("there are allocations that are never given an answer")
	return nil
}

// consistent: each node and its allocation point at each other, and at nothing else.
func consistent(t testing.TB, s core.Store) {
	t.Helper()
	nodes, err := s.Nodes(context.Background(), node.Query{})
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]string{} // by allocation
	for _, n := range nodes {
		if n.AllocationUUID != n.InstanceUUID {
			t.Errorf("node %s has instance %q and allocation %q", n.UUID, n.InstanceUUID, n.AllocationUUID)
		}
		if n.AllocationUUID != "" {
			of[n.AllocationUUID] = n.UUID
		}
	}
	all, err := s.Catalogs().Allocations.List(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if a.NodeUUID != of[a.UUID] || (a.State == node.AllocationActive) != (a.NodeUUID != "") ||
			(a.State == node.AllocationError) != (a.LastError != "") {
			t.Errorf("allocation %+v is of a node whose allocation is of %q", a, of[a.UUID])
		}
		delete(of, a.UUID)
	}
	for uuid, n := range of {
		t.Errorf("node %s has allocation %s, which is not there", n, uuid)
	}
}

// TestAllocateAtOnce: two conductors get many allocations at once, and answers of the store are lost on the way. Each
// node is given away once, and none is withheld.
func TestAllocateAtOnce(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 7))
		s := mem.New()
		one, endOne := enginetest.StartOn(t, s, "one")
		two, endTwo := enginetest.StartOn(t, s, "two")
		nodes, asked := map[string]int{}, map[string]int{}
		for i := range 1 + rng.IntN(20) {
			class := fmt.Sprint("class-", rng.IntN(3))
			nodes[class]++
			enginetest.Offer(t, s, fmt.Sprintf("11111111-0000-4000-8000-%012d", i), class, nil)
		}
		for range rng.IntN(3) {
			s.Fail(mem.Fault{Method: "Commit", Nth: 1 + rng.IntN(9), After: true, Err: errors.New("the answer was lost")})
		}
		var wg sync.WaitGroup
		for i := range 1 + rng.IntN(40) {
			class := fmt.Sprint("class-", rng.IntN(3))
			asked[class]++
			e := []*engine.Engine{one, two}[i%2]
			wg.Go(func() {
				if _, err := e.Catalogs().Allocations.Create(context.Background(),
					node.Allocation{ResourceClass: class}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		given := map[string]int{}
		for _, a := range decided(t, s) {
			if a.State == node.AllocationActive {
				given[a.ResourceClass]++
			}
		}
		for class, n := range asked {
			if given[class] != min(n, nodes[class]) {
				t.Errorf("seed %d: of %d nodes of %s %d were given to %d allocations", seed, nodes[class], class, given[class], n)
			}
		}
		consistent(t, s)
		endOne()
		endTwo()
	}
}

// TestAllocateWhileAllChanges: allocations come and go while nodes are edited,
// deleted and freed.
func TestAllocateWhileAllChanges(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 8))
		s := mem.New()
		one, endOne := enginetest.StartOn(t, s, "one")
		two, endTwo := enginetest.StartOn(t, s, "two")
		for i := range 6 {
			enginetest.Offer(t, s, fmt.Sprintf("11111111-0000-4000-8000-%012d", i), "bm", nil)
		}
		var wg sync.WaitGroup
		for i := range 60 {
			e, what := []*engine.Engine{one, two}[i%2], rng.IntN(8)
			uuid := fmt.Sprintf("11111111-0000-4000-8000-%012d", rng.IntN(6))
			wish := node.Allocation{Record: node.Record{UUID: fmt.Sprintf("22222222-0000-4000-8000-%012d", rng.IntN(12))},
				ResourceClass: "bm"}
			wg.Go(func() { disturb(t, e, what, uuid, wish) })
		}
		wg.Wait()
		decided(t, s)
		consistent(t, s)
		endOne()
		endTwo()
	}
}

// disturb does one thing, which may be refused.
func disturb(t *testing.T, e *engine.Engine, what int, uuid string, wish node.Allocation) {
	ctx := context.Background()
	var err error
	switch what {
	case 0:
		err = e.DeleteNode(ctx, uuid)
	case 1:
		err = e.SetMaintenance(ctx, uuid, wish.UUID > "22222222-0000-4000-8000-000000000005", "why not")
	case 2:
		_, err = e.UpdateNode(ctx, uuid, func(n *node.Node) error { n.InstanceUUID = ""; return nil })
	case 3, 4:
		err = e.Catalogs().Allocations.Delete(ctx, wish.UUID)
	case 5:
		_, err = e.Catalogs().Allocations.Update(ctx, wish.UUID, func(a *node.Allocation) error {
			a.Name = a.UUID[30:]
			return nil
		})
	default:
		_, err = e.Catalogs().Allocations.Create(ctx, wish)
	}
	var refusal *node.Refusal
	if err != nil && !errors.As(err, &refusal) {
		t.Errorf("move %d of node %s, allocation %s: %v", what, uuid, wish.UUID, err)
	}
}

// TestAllocateAfterRestart: a request that the old conductor could not process is processed by the next one.
func TestAllocateAfterRestart(t *testing.T) {
	s := mem.New()
	dead := engine.New(core.Config{Store: s, BMCs: map[string]core.BMC{"fake-hardware": nil},
		Settings: plan.Settings{ConductorName: "one"}, Log: slog.New(slog.DiscardHandler)})
	a, err := dead.Catalogs().Allocations.Create(t.Context(),
		node.Allocation{ResourceClass: "bm", Traits: []string{"CUSTOM_A"}})
	if err != nil || a.State != node.Allocating || a.NodeUUID != "" {
		t.Fatalf("created: %+v, %v", a, err)
	}
	n := enginetest.Offer(t, s, "n1", "bm", func(n *node.Node) { n.Traits = []string{"CUSTOM_A"} })
	_, end := enginetest.StartOn(t, s, "one")
	defer end()
	if all := decided(t, s); len(all) != 1 || all[0].NodeUUID != n.UUID || all[0].UpdatedAt == nil {
		t.Errorf("allocations: %+v", all)
	}
	consistent(t, s)
}

// TestAllocateReserved: a node that is reserved is waited for, but not for long. That includes its first power change.
func TestAllocateReserved(t *testing.T) {
	for name, c := range map[string]struct{ released, unknown bool }{
		"released in time": {released: true}, "reserved for good": {},
		"power known in time": {released: true, unknown: true}, "power never known": {unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := mem.New()
				n := enginetest.Offer(t, s, "n1", "bm", func(n *node.Node) {
					if c.unknown {
						n.PowerState, n.TargetPowerState = "", node.PowerOff
					}
				})
				hold := node.Effect{Node: n.UUID, Name: "power.request", RunAt: time.Now().Add(time.Hour)}
				n, err := s.Commit(t.Context(), node.Change{Save: &n, Effects: []node.Effect{hold}})
				if err != nil {
					t.Fatal(err)
				}
				e, end := enginetest.StartOn(t, s, "one")
				defer end()
				made, err := e.Catalogs().Allocations.Create(t.Context(), node.Allocation{ResourceClass: "bm"})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Second)
				if a, err := s.Catalogs().Allocations.Find(t.Context(), made.UUID); err != nil || a.State != node.Allocating {
					t.Fatalf("after five seconds: %+v, %v", a, err)
				}
				if c.released {
					claimed, err := storetest.Claim(t.Context(), s, "other", time.Now().Add(2*time.Hour), time.Minute, 1)
					if err != nil || len(claimed) != 1 {
						t.Fatal(claimed, err)
					}
					n.PowerState, n.TargetPowerState = node.PowerOff, ""
					if _, err := s.Commit(t.Context(), node.Change{Save: &n, Finish: &claimed[0]}); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(15 * time.Second)
				a, err := s.Catalogs().Allocations.Find(t.Context(), made.UUID)
				if c.released && (err != nil || a.NodeUUID != "n1") || !c.released && a.State != node.AllocationError {
					t.Errorf("in the end: %+v, %v", a, err)
				}
				consistent(t, s)
			})
		})
	}
}
