package core_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// TestCleaningRunbook: the runbook of a node is found by name when it is provided, and after a tear-down.
func TestCleaningRunbook(t *testing.T) {
	ctx, store := t.Context(), mem.New()
	s := plan.DefaultSettings()
	s.Cleaning = plan.CleaningRunbooks{Source: plan.RunbookSteps, ValidateTraits: true,
		ByClass: map[string]string{"large": "full", "small": "none"}}
	e := engine.New(core.Config{Store: store, BMCs: map[string]core.BMC{"fake-hardware": nil},
		Log: slog.New(slog.DiscardHandler), Settings: s})
	_, err := store.Catalogs().Runbooks.Insert(ctx, node.Runbook{Record: node.Record{
		UUID: "11111111-2222-4333-8444-000000000009"}, Name: "full", Traits: []string{"CUSTOM_FULL"},
		Steps: []node.RunbookStep{{Step: node.Step{Interface: "power", Step: "hold"}}}})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		from  node.State
		class string
		verb  node.Event
		want  node.State
		error string
	}{
		{node.Manageable, "large", node.Provide, node.CleanHold, ""},
		{node.Manageable, "small", node.Provide, node.Manageable, `runbook "none", which does not exist`},
		{node.Manageable, "other", node.Provide, node.Manageable, "has no runbook"},
		{node.Active, "large", node.Delete, node.CleanHold, ""},
		{node.Active, "small", node.Delete, node.CleanFailed, `runbook "none", which does not exist`},
	} {
		n, err := store.Commit(ctx, node.Change{Insert: &node.Node{
			UUID: "11111111-2222-4333-8444-00000000000" + string(rune('0'+i)), Driver: "fake-hardware",
			ProvisionState: c.from, ResourceClass: c.class, Traits: []string{"CUSTOM_FULL"},
			Interfaces: map[string]string{"deploy": "fake", "network": "noop", "boot": "fake"}}})
		if err != nil {
			t.Fatal(err)
		}
		err = e.Provision(ctx, n.UUID, plan.Request{Verb: c.verb})
		n, readErr := store.Node(ctx, n.UUID)
		got := n.LastError
		if err != nil {
			got = err.Error()
		}
		said := c.error == "" && got == "" || c.error != "" && strings.Contains(got, c.error)
		if readErr != nil || n.ProvisionState != c.want || !said {
			t.Errorf("%s of a %s node: %q, %s; want %q, %s", c.verb, c.class, n.ProvisionState, got, c.want, c.error)
		}
	}
}

// TestCleaningRunbookOfOwner: a node names a runbook of its owner, of the system, or a public one. All others are
// not found: an error must not reveal their names.
func TestCleaningRunbookOfOwner(t *testing.T) {
	ctx, store := t.Context(), mem.New()
	s := plan.DefaultSettings()
	s.Cleaning = plan.CleaningRunbooks{Source: plan.RunbookSteps, FromNode: true, Default: "red"}
	e := engine.New(core.Config{Store: store, Log: slog.New(slog.DiscardHandler), Settings: s})
	for i, book := range []node.Runbook{{Name: "red", Owner: "red"}, {Name: "blue", Owner: "blue"},
		{Name: "red-public", Owner: "red", Public: true}, {Name: "system"}} {
		book.UUID = "11111111-2222-4333-8444-00000000000" + string(rune('0'+i))
		if _, err := store.Catalogs().Runbooks.Insert(ctx, book); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		owner, named string // "" names none
		want         bool
	}{
		{"blue", "red", false},
		{"blue", "11111111-2222-4333-8444-000000000000", false},
		{"blue", "blue", true},
		{"blue", "red-public", true},
		{"blue", "system", true},
		{"", "red", true},
		{"blue", "", true}, // the operator's setting
	} {
		n := node.Node{Owner: c.owner, DriverInfo: map[string]any{}}
		if c.named != "" {
			n.DriverInfo["cleaning_runbook"] = c.named
		}
		book, err := e.CleaningRunbook(ctx, n)
		if err != nil || (book != nil) != c.want {
			t.Errorf("a node of %q that names %q: %v, %v; want one: %v", c.owner, c.named, book, err, c.want)
		}
	}
}
