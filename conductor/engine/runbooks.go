package engine

import (
	"context"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// CreateRunbook stores a new runbook. UUID and times are filled in.
func (e *Engine) CreateRunbook(ctx context.Context, r node.Runbook) (node.Runbook, error) {
	if r.UUID == "" {
		r.UUID = uuid.NewString()
	}
	r.CreatedAt, r.UpdatedAt = e.Now(), nil
	if err := r.Check(); err != nil {
		return r, err
	}
	return e.Store.InsertRunbook(ctx, r)
}

// Runbook returns a runbook by UUID or name.
func (e *Engine) Runbook(ctx context.Context, ref string) (node.Runbook, error) {
	return e.Store.Runbook(ctx, ref)
}

// Runbooks returns all, in the order of creation.
func (e *Engine) Runbooks(ctx context.Context) ([]node.Runbook, error) {
	return e.Store.ListRunbooks(ctx)
}

// UpdateRunbook edits a runbook. edit may run more than once and may answer a
// Refusal. Nodes at work on it keep the steps they began with.
func (e *Engine) UpdateRunbook(ctx context.Context, ref string, edit func(*node.Runbook) error) (node.Runbook, error) {
	return again(func() (node.Runbook, error) {
		r, err := e.Store.Runbook(ctx, ref)
		if err != nil {
			return r, err
		}
		id, revision, now := r.UUID, r.Revision, e.Now()
		if err := edit(&r); err != nil {
			return r, err
		}
		r.UUID, r.Revision, r.UpdatedAt = id, revision, &now
		if err := r.Check(); err != nil {
			return r, err
		}
		return e.Store.SaveRunbook(ctx, r)
	})
}

// DeleteRunbook removes a runbook, by UUID or name.
func (e *Engine) DeleteRunbook(ctx context.Context, ref string) error {
	r, err := e.Store.Runbook(ctx, ref)
	if err != nil {
		return err
	}
	return e.Store.DeleteRunbook(ctx, r.UUID)
}
