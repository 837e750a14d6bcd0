package api

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// runbookTraits is the microversion from which on a runbook has traits; until
// then its name was its trait.
const runbookTraits = 112

// runbooks is the collection of runbooks: steps to clean or service a node with.
type runbooks struct{ collection[node.Runbook] }

// runbookResource makes the routes of runbooks.
type runbookResource struct{ access }

func (h *runbookResource) routes() []rest.Route {
	r := &runbooks{collection[node.Runbook]{
		access: &h.access, path: "runbooks", since: 92, noun: "Runbook", ident: "runbook_ident",
		fields: runbookTable(), brief: []string{"uuid", "name", "links"}, required: []string{"name", "steps"},
		id:      func(r *node.Runbook) string { return r.UUID },
		created: h.newRunbook, patched: h.patchedRunbook,
		owner:  func(r *node.Runbook) *string { return &r.Owner },
		public: func(r *node.Runbook) bool { return r.Public },
		kept:   h.conductor.Catalogs().Runbooks,
	}}
	return append(r.routes(), r.traitRoutes()...)
}

// runbookTable is every field of a runbook with the microversion it appears in.
func runbookTable() *rest.Table[node.Runbook] {
	type r = node.Runbook
	name := rest.Text("name", 1, both, func(r *r) *string { return &r.Name })
	name.Set = func(r *r, value any) (err error) {
		r.Name, err = asLogicalName(value)
		return err
	}
	return rest.NewTable("runbook", []rest.Field[r]{
		rest.UUID("uuid", 1, rest.Creatable, func(r *r) *string { return &r.UUID }),
		rest.Time("created_at", 1, func(r *r) *time.Time { return &r.CreatedAt }),
		rest.Time("updated_at", 1, func(r *r) *time.Time { return r.UpdatedAt }),
		name,
		rest.Object("extra", 1, both, nil, func(r *r) *map[string]any { return &r.Extra }),
		rest.StrictFlag(rest.Flag("public", 1, both, false, func(r *r) *bool { return &r.Public })),
		rest.Text("owner", 1, both, func(r *r) *string { return &r.Owner }),
		rest.StrictFlag(rest.Flag("disable_ramdisk", 1, both, false, func(r *r) *bool { return &r.DisableRamdisk })),
		rest.Text("description", runbookTraits, both, func(r *r) *string { return &r.Description }),
		rest.Computed("links", 1, 0, func(dst []byte, v *rest.View[r]) []byte {
			return rest.AppendLinks(dst, v.Base, "runbooks/"+v.Of.UUID)
		}),
		stepsField(stepRules{rank: "order", required: []string{"interface", "step", "order"}}, runbookSteps, setRunbookSteps),
		rest.Computed("traits", runbookTraits, 0, func(dst []byte, v *rest.View[r]) []byte {
			return rest.AppendTexts(dst, v.Of.Traits)
		}),
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
		return "", &rest.SchemaError{Text: "'" + s + "' is a UUID, which cannot be a name"}
	case len(s) <= rest.MaxText && !node.ValidName(s):
		return "", &rest.SchemaError{Text: "'" + s + "' does not match '^[A-Za-z0-9\\-._~]+$'"}
	}
	return rest.ReadText(s, rest.MaxText)
}

// traitForName refuses a name of a new runbook that cannot be a trait, in microversions where the name approves a node.
// A patch may set any name, so that older clients can still change runbooks of newer ones.
func traitForName(c *rest.Call, r *node.Runbook) error {
	if c.Minor >= runbookTraits {
		return nil
	}
	_, err := asTrait(r.Name)
	return err
}

// newRunbook checks the name and the steps of a new runbook.
func (h *runbookResource) newRunbook(c *rest.Call, r *node.Runbook) error {
	if err := traitForName(c, r); err != nil {
		return err
	}
	return h.permitRunbook(c, r, nil)
}

// patchedRunbook takes its owner from a runbook that a patch makes public, unless the patch names one, which is
// refused. It checks new steps.
func (h *runbookResource) patchedRunbook(c *rest.Call, ops []rest.Operation, r *node.Runbook) error {
	names := func(field string) bool {
		return slices.ContainsFunc(ops, func(o rest.Operation) bool { return o.Field() == field })
	}
	if r.Public && names("public") && !names("owner") {
		r.Owner = ""
	}
	if names("steps") {
		return h.permitRunbook(c, r, nil)
	}
	return nil
}
