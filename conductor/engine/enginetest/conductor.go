package enginetest

import (
	"context"
	"log/slog"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// StartOn starts a conductor on a store that others may use, too.
func StartOn(t testing.TB, s core.Store, host string) (e *engine.Engine, end func()) {
	t.Helper()
	e = engine.New(core.Config{
		Store: s, BMCs: map[string]core.BMC{"fake-hardware": nil}, Settings: plan.Settings{ConductorName: host},
		Log: slog.New(slog.DiscardHandler),
	})
	if err := e.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); e.Run(ctx) }()
	return e, func() { stop(); <-done }
}

// Offer stores a node that can be allocated.
func Offer(t testing.TB, s core.Store, uuid, class string, edit func(*node.Node)) node.Node {
	t.Helper()
	n := node.Node{UUID: uuid, Driver: "fake-hardware", ResourceClass: class, ProvisionState: node.Available,
		PowerState: node.PowerOff}
	if edit != nil {
		edit(&n)
	}
	n, err := s.Commit(context.Background(), node.Change{Insert: &n})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
