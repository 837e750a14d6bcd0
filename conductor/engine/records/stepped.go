package records

import (
	"context"
	"encoding/json"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// stepped is a catalog of records with steps, which are checked on each write. Records of an earlier release stay as
// they are until they are next written.
type stepped[T any, P node.Recorded[T]] struct {
	catalog[T, P]
	steps func(*T) any
	check func(T) error
}

// Create stores a new record.
func (c stepped[T, P]) Create(ctx context.Context, v T) (T, error) {
	if err := P(&v).Check(); err != nil {
		return v, err
	}
	if err := c.check(v); err != nil {
		return v, err
	}
	return c.catalog.Create(ctx, v)
}

// Update edits a record.
func (c stepped[T, P]) Update(ctx context.Context, ref string, edit func(*T) error) (T, error) {
	return core.Again(func() (T, error) {
		var before string // an edit may change the old steps in place
		_, v, err := c.edited(ctx, ref, func(v *T) (err error) {
			if before, err = c.written(v); err != nil {
				return err
			}
			return edit(v)
		})
		if err != nil {
			return v, err
		}
		after, err := c.written(&v)
		if err == nil && after != before {
			err = c.check(v)
		}
		if err != nil {
			return v, err
		}
		return c.Save(ctx, v)
	})
}

func (c stepped[T, P]) written(v *T) (string, error) {
	raw, err := json.Marshal(c.steps(v))
	return string(raw), err
}

func (e *Records) deployTemplates(kept node.Catalog[node.DeployTemplate]) Catalog[node.DeployTemplate] {
	return stepped[node.DeployTemplate, *node.DeployTemplate]{
		catalog: catalog[node.DeployTemplate, *node.DeployTemplate]{kept, e},
		steps:   func(t *node.DeployTemplate) any { return t.Steps },
		check:   func(t node.DeployTemplate) error { return plan.CheckTemplate(t, e.AllOffers(), e.Settings.StepLimit) },
	}
}

func (e *Records) runbooks(kept node.Catalog[node.Runbook]) Catalog[node.Runbook] {
	return stepped[node.Runbook, *node.Runbook]{
		catalog: catalog[node.Runbook, *node.Runbook]{kept, e},
		steps:   func(r *node.Runbook) any { return r.Steps },
		check:   func(r node.Runbook) error { return plan.CheckRunbook(r, e.AllOffers(), e.Settings.StepLimit) },
	}
}
