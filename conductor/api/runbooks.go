package api

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// runbookTraits is the microversion from which on a runbook has traits; until
// then its name was its trait.
const runbookTraits = 112

// runbooks is the collection of runbooks: steps to clean or service a node with.
type runbooks struct{ collection[node.Runbook] }

func (a *API) runbookRoutes() []route {
	r := &runbooks{collection[node.Runbook]{
		api: a, path: "runbooks", since: 92, noun: "Runbook", ident: "runbook_ident",
		fields: runbookTable(), brief: []string{"uuid", "name", "links"}, required: []string{"name", "steps"},
		id:      func(r *node.Runbook) string { return r.UUID },
		created: traitForName, patched: publish,
		owner:  func(r *node.Runbook) *string { return &r.Owner },
		public: func(r *node.Runbook) bool { return r.Public },
		kept:   a.conductor.Catalogs().Runbooks,
	}}
	return append(r.routes(), r.traitRoutes()...)
}

// runbookTable is every field of a runbook with the microversion it appears in.
func runbookTable() *table[node.Runbook] {
	type r = node.Runbook
	name := text("name", 1, both, func(r *r) *string { return &r.Name })
	name.set = func(r *r, value any) (err error) {
		r.Name, err = asLogicalName(value)
		return err
	}
	return newTable("runbook", []field[r]{
		identifier("uuid", 1, creatable, func(r *r) *string { return &r.UUID }),
		instant("created_at", 1, func(r *r) *time.Time { return &r.CreatedAt }),
		instant("updated_at", 1, func(r *r) *time.Time { return r.UpdatedAt }),
		name,
		object("extra", 1, both, nil, func(r *r) *map[string]any { return &r.Extra }),
		strict(flag("public", 1, both, false, func(r *r) *bool { return &r.Public })),
		text("owner", 1, both, func(r *r) *string { return &r.Owner }),
		strict(flag("disable_ramdisk", 1, both, false, func(r *r) *bool { return &r.DisableRamdisk })),
		text("description", runbookTraits, both, func(r *r) *string { return &r.Description }),
		shown("links", 1, 0, func(dst []byte, v *view[r]) []byte { return appendLinks(dst, v.base, "runbooks/"+v.of.UUID) }),
		stepsField(stepRules{rank: "order", required: []string{"interface", "step", "order"}}, runbookSteps, setRunbookSteps),
		shown("traits", runbookTraits, 0, func(dst []byte, v *view[r]) []byte { return appendTexts(dst, v.of.Traits) }),
	})
}

func runbookSteps(r *node.Runbook) []ranked {
	steps := make([]ranked, len(r.Steps))
	for i, s := range r.Steps {
		steps[i] = ranked{s.Step, s.Order}
	}
	return steps
}

func setRunbookSteps(r *node.Runbook, steps []ranked) {
	r.Steps = make([]node.RunbookStep, len(steps))
	for i, s := range steps {
		r.Steps[i] = node.RunbookStep{Step: s.Step, Order: s.rank}
	}
}

// asLogicalName takes a name that can stand in a path.
func asLogicalName(value any) (string, error) {
	s, err := someText(value)
	switch {
	case err != nil:
		return "", err
	case uuid.Validate(s) == nil: // in any of its spellings: ref would take it for one
		return "", &schemaError{"'" + s + "' is a UUID, which cannot be a name"}
	case len(s) <= maxText && !node.ValidName(s):
		return "", &schemaError{"'" + s + "' does not match '^[A-Za-z0-9\\-._~]+$'"}
	}
	return asText(s, maxText)
}

// traitForName: as long as a node is approved by the name of the runbook, a new
// one must have a name that can be a trait. A patch may give it any, so that
// older clients can still change what newer ones have made.
func traitForName(c *call, r *node.Runbook) error {
	if c.minor >= runbookTraits {
		return nil
	}
	_, err := asTrait(r.Name)
	return err
}

// publish takes its owner from a runbook that a patch makes public, unless the
// patch names one, which is refused.
func publish(ops []operation, r *node.Runbook) {
	names := func(field string) bool {
		return slices.ContainsFunc(ops, func(o operation) bool { return o.field() == field })
	}
	if r.Public && names("public") && !names("owner") {
		r.Owner = ""
	}
}
