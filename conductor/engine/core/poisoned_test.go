package core_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

var errPoisoned = errors.New("unexpected end of JSON input")

// poisoned is a store in which records with a UUID that begins with "bad" cannot be decoded; it returns the errors of
// SQLite. It counts the reads of each node.
type poisoned struct {
	core.Store
	mu    sync.Mutex
	reads map[string]int
}

func bad(uuid string) bool { return strings.HasPrefix(uuid, "bad") }

func (p *poisoned) count(uuid string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reads[uuid]
}

func (p *poisoned) Node(ctx context.Context, ref string) (node.Node, error) {
	p.mu.Lock()
	p.reads[ref]++
	p.mu.Unlock()
	if bad(ref) {
		return node.Node{}, errPoisoned
	}
	return p.Store.Node(ctx, ref)
}

// readable removes the records that cannot be decoded from a list.
func readable[T any](kind string, all []T, err error, uuid func(*T) string) ([]T, error) {
	u := &node.UnreadableError{Kind: kind, Err: errPoisoned}
	for i := range all {
		if u.Last = uuid(&all[i]); bad(u.Last) {
			u.UUIDs = append(u.UUIDs, u.Last)
		}
	}
	if err != nil || u.UUIDs == nil {
		return all, err
	}
	return slices.DeleteFunc(all, func(v T) bool { return bad(uuid(&v)) }), u
}

func (p *poisoned) Nodes(ctx context.Context, q node.Query) ([]node.Node, error) {
	all, err := p.Store.Nodes(ctx, q)
	return readable("node", all, err, func(n *node.Node) string { return n.UUID })
}

func (p *poisoned) Catalogs() node.Catalogs {
	c := p.Store.Catalogs()
	c.Allocations = poisonedAllocations{c.Allocations}
	return c
}

type poisonedAllocations struct{ node.Catalog[node.Allocation] }

func (p poisonedAllocations) List(ctx context.Context, column string, values ...string) ([]node.Allocation, error) {
	all, err := p.Catalog.List(ctx, column, values...)
	return readable("allocation", all, err, func(a *node.Allocation) string { return a.UUID })
}

// plainBMC answers that its machine is on.
type plainBMC struct{ core.BMC }

func (plainBMC) Validate(node.Node) error { return nil }
func (plainBMC) PowerState(context.Context, node.Node) (node.PowerState, error) {
	return node.PowerOn, nil
}
func (plainBMC) BootMode(context.Context, node.Node) (string, error) { return "", nil }

// TestPoisonedRows: records that cannot be decoded are set aside with a line in the
// log; deadlines, effects, readings of power and allocations of the others go on,
// and none of those is asked for in a loop.
func TestPoisonedRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &poisoned{Store: mem.New(), reads: map[string]int{}}
		put := func(n node.Node, pending ...node.Effect) {
			t.Helper()
			n.Driver = "fake-hardware"
			if _, err := p.Commit(t.Context(), node.Change{Insert: &n, Effects: pending}); err != nil {
				t.Fatal(err)
			}
		}
		past := time.Now().Add(-time.Hour)
		for i := range 250 { // more than are read at a time, of deadlines and of nodes
			put(node.Node{UUID: fmt.Sprintf("bad-%d", i), ProvisionState: node.CleanWait, Deadline: past, ResourceClass: "c"})
		}
		put(node.Node{UUID: "bad-owes", ProvisionState: node.Deploying}, node.Effect{Node: "bad-owes", Name: "power.request"})
		for name, args := range map[string]string{"no.such": "{}", "power.request": "{", "agent.execute_step": "[]"} {
			put(node.Node{UUID: "owes-" + name, ProvisionState: node.Deploying, TargetProvisionState: node.Active,
				Run: &node.Run{Activity: "deploy", Steps: []node.Step{{Step: "x"}}}},
				node.Effect{Node: "owes-" + name, Name: name, Args: []byte(args)})
		}
		put(node.Node{UUID: "contrary", ProvisionState: node.CleanWait, Deadline: past}) // at work at nothing
		put(node.Node{UUID: "torn", ProvisionState: node.Verifying,                      // where nothing can be held
			Run: &node.Run{Activity: "verify", Steps: []node.Step{{Interface: "deploy", Step: "hold"}}}})
		put(node.Node{UUID: "free", ProvisionState: node.Available, ResourceClass: "c", PowerState: node.PowerOff})
		log := &strings.Builder{}
		e := engine.New(core.Config{
			Store: p, BMCs: map[string]core.BMC{"fake-hardware": plainBMC{}}, Settings: plan.DefaultSettings(),
			Log: slog.New(slog.NewTextHandler(log, nil)),
		})
		if err := e.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		put(node.Node{UUID: "late", ProvisionState: node.CleanWait, TargetProvisionState: node.Available,
			Deadline: past.Add(time.Minute), Run: &node.Run{Activity: "clean", Steps: []node.Step{{Step: "x"}}}})
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { defer close(done); e.Run(ctx) }()
		for _, id := range []string{"bad", "fits"} {
			if _, err := e.Catalogs().Allocations.Create(t.Context(),
				node.Allocation{Record: node.Record{UUID: id}, ResourceClass: "c"}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Minute)
		stop()
		<-done
		if n, err := p.Node(t.Context(), "late"); err != nil || n.ProvisionState == node.CleanWait {
			t.Errorf("the deadline behind those of unreadable nodes: %q, %v", n.ProvisionState, err)
		}
		if n, err := p.Node(t.Context(), "free"); err != nil || n.PowerState != node.PowerOn || n.AllocationUUID != "fits" {
			t.Errorf("the node among unreadable ones: power %q, allocation %q, %v", n.PowerState, n.AllocationUUID, err)
		}
		for _, id := range []string{"bad-0", "bad-249", "bad-owes", "contrary", "owes-no.such", "owes-power.request",
			"owes-agent.execute_step"} {
			if reads := p.count(id); reads > 60 || reads == 0 {
				t.Errorf("%s was read %d times in ten minutes", id, reads)
			}
		}
		if lines := strings.Count(log.String(), "\n"); lines > 250*30 || strings.Count(log.String(), "uuid=bad-0 ") != 1 ||
			strings.Count(log.String(), "kind=allocation") != 1 {
			t.Errorf("%d lines in the log, which begins with\n%.2000s", lines, log)
		}
	})
}
