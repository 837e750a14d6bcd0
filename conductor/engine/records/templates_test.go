package records_test

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// keeper is an engine with a fixed clock and a store that can fail.
func keeper(now time.Time) (*engine.Engine, *mem.Store) {
	s := mem.New()
	return engine.New(core.Config{
		Store: s, BMCs: map[string]core.BMC{"fake-hardware": nil}, Settings: plan.Settings{ConductorName: "test"},
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
	}), s
}

// TestTemplateEdits: an edit that another overtakes is repeated on the other's result, and a refused edit changes
// nothing.
func TestTemplateEdits(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	e, s := keeper(now)
	ctx := t.Context()
	templates := e.Catalogs().DeployTemplates
	step := node.Step{Interface: "deploy", Step: "a"}
	made, err := templates.Create(ctx, node.DeployTemplate{Record: node.Record{UpdatedAt: &time.Time{}}, Name: "CUSTOM_A",
		Steps: []node.Step{step}})
	if err != nil || made.UUID == "" || made.CreatedAt != now || made.UpdatedAt != nil {
		t.Fatalf("created: %+v %v", made, err)
	}
	overtaken := false
	saved, err := templates.Update(ctx, "CUSTOM_A", func(v *node.DeployTemplate) error {
		if !overtaken {
			overtaken = true
			if _, err := templates.Update(ctx, made.UUID, func(v *node.DeployTemplate) error {
				v.Extra = map[string]any{"other": true}
				return nil
			}); err != nil {
				return err
			}
		}
		v.UUID, v.Steps[0].Priority = "not to be changed", 5
		return nil
	})
	if err != nil || saved.UUID != made.UUID || saved.Revision != 3 || saved.Extra["other"] != true ||
		saved.Steps[0].Priority != 5 || saved.UpdatedAt == nil {
		t.Errorf("saved: %+v %v", saved, err)
	}
	refused := errors.New("no")
	for _, c := range []struct {
		why  error // nil for any refusal
		edit func(*node.DeployTemplate) error
	}{
		{refused, func(*node.DeployTemplate) error { return refused }},
		{nil, func(v *node.DeployTemplate) error { v.Steps = append(v.Steps, step); return nil }},
	} {
		_, err := templates.Update(ctx, "CUSTOM_A", c.edit)
		var r *node.Refusal
		if c.why != nil && !errors.Is(err, c.why) || c.why == nil && !errors.As(err, &r) {
			t.Errorf("got %v, want %v", err, c.why)
		}
	}
	if _, err := templates.Create(ctx, node.DeployTemplate{Name: "CUSTOM_B", Steps: []node.Step{step, step}}); err == nil {
		t.Error("a template with a step twice was created")
	}
	all, err := templates.List(ctx, "")
	if err != nil || len(all) != 1 || all[0].Revision != 3 || len(all[0].Steps) != 1 {
		t.Errorf("kept: %+v %v", all, err)
	}

	s.Fail(mem.Fault{Method: "write", Err: node.ErrStale})
	tries := 0
	_, err = templates.Update(ctx, "CUSTOM_A", func(*node.DeployTemplate) error { tries++; return nil })
	if !errors.Is(err, node.ErrStale) || tries < 2 || tries > 100 {
		t.Errorf("a template that never comes to rest: %v after %d tries", err, tries)
	}
}

// TestTraits: sorted, each once, at most fifty, and all or nothing.
func TestTraits(t *testing.T) {
	e, _ := keeper(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	ctx := t.Context()
	if _, err := e.CreateNode(ctx, node.Node{Name: "n1", Driver: "fake-hardware"}); err != nil {
		t.Fatal(err)
	}
	var many []string
	for i := range node.MaxTraits + 1 {
		many = append(many, fmt.Sprintf("CUSTOM_%d", i))
	}
	given := []string{"CUSTOM_B", "CUSTOM_A", "CUSTOM_B"}
	for _, c := range []struct {
		name string
		do   func() error
		kind node.Kind // of the refusal
		ok   bool
		want string
	}{
		{"set", func() error { return e.SetTraits(ctx, "n1", given) }, 0, true, "[CUSTOM_A CUSTOM_B]"},
		{"add", func() error { return e.AddTrait(ctx, "n1", "CUSTOM_AA") }, 0, true, "[CUSTOM_A CUSTOM_AA CUSTOM_B]"},
		{"add again", func() error { return e.AddTrait(ctx, "n1", "CUSTOM_AA") }, 0, true, "[CUSTOM_A CUSTOM_AA CUSTOM_B]"},
		{"remove", func() error { return e.RemoveTrait(ctx, "n1", "CUSTOM_A") }, 0, true, "[CUSTOM_AA CUSTOM_B]"},
		{"remove what is not there", func() error { return e.RemoveTrait(ctx, "n1", "CUSTOM_A") }, node.NotFound, false,
			"[CUSTOM_AA CUSTOM_B]"},
		{"too many", func() error { return e.SetTraits(ctx, "n1", many) }, node.Invalid, false, "[CUSTOM_AA CUSTOM_B]"},
		{"none", func() error { return e.SetTraits(ctx, "n1", nil) }, 0, true, "[]"},
		{"as many as can be", func() error { return e.SetTraits(ctx, "n1", many[1:]) }, 0, true, ""},
		{"one more", func() error { return e.AddTrait(ctx, "n1", many[0]) }, node.Invalid, false, ""},
	} {
		err := c.do()
		var r *node.Refusal
		if c.ok != (err == nil) || !c.ok && (!errors.As(err, &r) || r.Kind != c.kind) {
			t.Errorf("%s: %v", c.name, err)
		}
		n, err := e.Node(ctx, "n1")
		if got := fmt.Sprint(n.Traits); err != nil || c.want != "" && got != c.want || c.want == "" &&
			len(n.Traits) != node.MaxTraits {
			t.Errorf("%s: the node has %s, want %s (%v)", c.name, got, c.want, err)
		}
	}
	if given[0] != "CUSTOM_B" {
		t.Errorf("the caller's list was changed: %v", given)
	}
}
