package core_test

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// TestLimits: running work counts, also from before a restart, until it has ended or its node is deleted.
func TestLimits(t *testing.T) {
	ctx, store := t.Context(), mem.New()
	var ids []string
	for _, state := range []node.State{node.DeployWait, node.Available, node.Available, node.Available} {
		n, err := store.Commit(ctx,
			node.Change{Insert: &node.Node{UUID: "11111111-2222-4333-8444-00000000000" + string(rune('0'+len(ids))),
				Driver:         "redfish",
				ProvisionState: state, Interfaces: map[string]string{"deploy": "direct", "boot": "ipxe"},
				InstanceInfo: map[string]any{"image_source": "http://h/i", "image_checksum": enginetest.NoSum}}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, n.UUID)
	}
	e := engine.New(core.Config{
		Store: store, BMCs: map[string]core.BMC{"redfish": nil}, Log: slog.New(slog.DiscardHandler),
		Settings: plan.Settings{ConductorName: "test", MaxConcurrentDeploy: 2, MaxConcurrentClean: 1},
	})
	if err := e.Recover(ctx); err != nil {
		t.Fatal(err)
	}
	ask := func(id string, verb node.Event) string {
		err := e.Provision(ctx, id, plan.Request{Verb: verb})
		var r *node.Refusal
		switch {
		case err == nil:
			return "begun"
		case errors.As(err, &r) && r.Kind == node.Busy:
			return "busy"
		}
		return err.Error()
	}
	for i, step := range []struct {
		id   string
		verb node.Event
		want string
	}{
		{ids[1], node.Deploy, "begun"},
		{ids[2], node.Deploy, "busy"},
		{ids[0], node.Delete, "begun"},
		{ids[2], node.Deploy, "begun"},
		{ids[3], node.Deploy, "busy"},
	} {
		if got := ask(step.id, step.verb); got != step.want {
			t.Errorf("request %d, %s: %s, want %s", i+1, step.verb, got, step.want)
		}
	}
}

// TestLimitsByGroup: by setting, the nodes of another conductor group do not count.
func TestLimitsByGroup(t *testing.T) {
	for _, apart := range []bool{false, true} {
		ctx, store := t.Context(), mem.New()
		var ids []string
		for i, group := range []string{"a", "a", "b"} {
			state := map[bool]node.State{true: node.DeployWait, false: node.Available}[i == 0]
			n, err := store.Commit(ctx, node.Change{Insert: &node.Node{
				UUID: "11111111-2222-4333-8444-00000000000" + string(rune('0'+i)), Driver: "redfish", ConductorGroup: group,
				ProvisionState: state, Interfaces: map[string]string{"deploy": "direct", "boot": "ipxe"},
				InstanceInfo: map[string]any{"image_source": "http://h/i", "image_checksum": enginetest.NoSum}}})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, n.UUID)
		}
		e := engine.New(core.Config{
			Store: store, BMCs: map[string]core.BMC{"redfish": nil}, Log: slog.New(slog.DiscardHandler),
			Settings: plan.Settings{ConductorName: "test", MaxConcurrentDeploy: 1, MaxConcurrentPerGroup: apart},
		})
		if err := e.Recover(ctx); err != nil {
			t.Fatal(err)
		}
		var r *node.Refusal
		if err := e.Provision(ctx, ids[1], plan.Request{Verb: node.Deploy}); !errors.As(err, &r) || r.Kind != node.Busy {
			t.Errorf("by group %v: a second node of a group: %v", apart, err)
		}
		if err := e.Provision(ctx, ids[2], plan.Request{Verb: node.Deploy}); (err == nil) != apart {
			t.Errorf("by group %v: a node of another group: %v", apart, err)
		}
	}
}
