package core_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// single counts the requests for single nodes.
type single struct {
	core.Store
	calls atomic.Int64
}

func (s *single) Node(ctx context.Context, ref string) (node.Node, error) {
	s.calls.Add(1)
	return s.Store.Node(ctx, ref)
}

func (s *single) Ports(ctx context.Context, q node.PortQuery) ([]node.Port, error) {
	s.calls.Add(1)
	return s.Store.Ports(ctx, q)
}

func (s *single) PendingEffect(ctx context.Context, uuid string) (*node.Effect, error) {
	s.calls.Add(1)
	return s.Store.PendingEffect(ctx, uuid)
}

func (s *single) Commit(ctx context.Context, c node.Change) (node.Node, error) {
	s.calls.Add(1)
	return s.Store.Commit(ctx, c)
}

// TestRecover: a start asks nothing of single nodes that have a pending effect, all of which
// it knows afterwards; those that wait have their time again, and one at work that
// has no pending effect goes on.
func TestRecover(t *testing.T) {
	s := &single{Store: mem.New()}
	insert := func(i int, state node.State, deadline time.Time, pending bool) string {
		n := node.Node{
			UUID: fmt.Sprintf("6f000000-0000-4000-8000-%012x", i), Driver: "fake-hardware", ProvisionState: state,
			Run: &node.Run{Activity: "verify", Generation: 1}, Deadline: deadline, CreatedAt: time.Now(),
		}
		if state != node.Verifying {
			n.Run.Activity = "clean"
		}
		c := node.Change{Insert: &n}
		if pending {
			c.Effects = []node.Effect{{Node: n.UUID, Generation: 1, Name: "power.validate", RunAt: n.CreatedAt}}
		}
		if _, err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		return n.UUID
	}
	const withEffects = 200
	for i := range withEffects {
		insert(i, node.Verifying, time.Time{}, true)
	}
	settings := plan.DefaultSettings()
	settings.ConductorName = "test"
	recovered := func() *engine.Engine {
		t.Helper()
		e := engine.New(core.Config{Store: s, Settings: settings, Log: slog.New(slog.DiscardHandler)})
		if err := e.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		return e
	}
	s.calls.Store(0)
	e := recovered()
	if calls, count := s.calls.Load(), e.CountUnowned(); calls != 0 || count[node.Verifying] != withEffects {
		t.Errorf("%d times single nodes were asked for; it knows of %v", calls, count)
	}
	late := time.Now().Add(-time.Hour)
	var waiting []string
	for i := range 100 {
		waiting = append(waiting, insert(withEffects+i, node.CleanWait, late, false))
	}
	stuck := insert(withEffects+len(waiting), node.Verifying, time.Time{}, false)
	recovered()
	for _, uuid := range waiting {
		if n, err := s.Node(t.Context(), uuid); err != nil || !n.Deadline.After(time.Now()) {
			t.Errorf("a node that waits has until %v, %v", n.Deadline, err)
		}
	}
	if n, err := s.Node(t.Context(), stuck); err != nil || n.ProvisionState == node.Verifying {
		t.Errorf("a node at work that has no pending effect is in %q, %v", n.ProvisionState, err)
	}
}
