package records_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
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

// offering is a driver with two steps of the BIOS.
type offering struct{ core.BMC }

func (offering) DoStep(context.Context, node.Node, node.Step, string) (node.StepReport, error) {
	return node.StepReport{}, errors.ErrUnsupported
}

func (offering) Steps(node.Node) []node.StepOffer {
	byRequest := map[node.Framework]int{node.CleanSteps: 0, node.DeploySteps: 0}
	return []node.StepOffer{
		{Interface: "bios", Step: "apply_configuration", Priority: byRequest,
			Args: map[string]node.StepArg{"settings": {Required: true}}},
		{Interface: "bios", Step: "factory_reset", Priority: byRequest},
	}
}

// TestWrittenSteps: steps that no driver has are refused when a template or runbook is written. Steps of older releases
// are refused only when they are changed.
func TestWrittenSteps(t *testing.T) {
	e, s := keeper(time.Now())
	e.BMCs["fake-hardware"] = offering{}
	ctx := t.Context()
	step := func(kind, name string, args map[string]any, priority int) node.Step {
		return node.Step{Interface: kind, Step: name, Args: args, Priority: priority}
	}
	settings := map[string]any{"settings": []any{}}
	for _, c := range []struct {
		step node.Step
		want string // of the refusal of a template and of a runbook; "" for none
	}{
		{step("bios", "apply_configuration", settings, 50), ""},
		{step("deploy", "of_an_agent", map[string]any{"x": 1}, 50), ""},
		{step("raid", "of_an_agent", nil, 50), ""},
		{step("deploy", "hold", nil, 50), ""},
		{step("bios", "apply_configuration", nil, 50), "step bios.apply_configuration needs the argument settings"},
		{step("bios", "aply_configuration", settings, 50), "(did you mean bios.apply_configuration?); they have: bios."},
		{step("management", "reset_bmc", nil, 50), "step management.reset_bmc is no "},
		{step("bios", "factory_reset", settings, 50), "step bios.factory_reset takes no arguments, but was given settings"},
		{step("power", "reboot", settings, 50), "step reboot takes no arguments"},
		{step("deploy", "wait", map[string]any{"seconds": "5"}, 50), "seconds is 5, expected a number"},
	} {
		_, err := e.Catalogs().DeployTemplates.Create(ctx, node.DeployTemplate{Name: "CUSTOM_" + fmt.Sprint(len(c.want)),
			Steps: []node.Step{c.step}})
		_, rerr := e.Catalogs().Runbooks.Create(ctx, node.Runbook{Name: fmt.Sprint(c.step),
			Steps: []node.RunbookStep{{Step: c.step}}})
		for kind, err := range map[string]error{"template": err, "runbook": rerr} {
			if errors.Is(err, node.ErrConflict) { // the name of one before
				err = nil
			}
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s of %s %v: %v, expected %q", kind, c.step, c.step.Args, err, c.want)
			}
		}
	}
	old, err := s.Catalogs().DeployTemplates.Insert(ctx, node.DeployTemplate{
		Record: node.Record{UUID: "1b9f2a3c-5a45-4c30-8f20-6d1b2f8f0001"}, Name: "CUSTOM_OLD",
		Steps: []node.Step{step("bios", "gone", nil, 50)}})
	if err != nil {
		t.Fatal(err)
	}
	edit := func(change func(*node.DeployTemplate)) error {
		_, err := e.Catalogs().DeployTemplates.Update(ctx, old.UUID, func(v *node.DeployTemplate) error {
			change(v)
			return nil
		})
		return err
	}
	if err := edit(func(v *node.DeployTemplate) { v.Name = "CUSTOM_NEW" }); err != nil {
		t.Errorf("an old template cannot be renamed: %v", err)
	}
	if err := edit(func(v *node.DeployTemplate) { v.Steps[0].Priority = 60 }); err == nil {
		t.Error("an old template is changed without a check")
	}
}
