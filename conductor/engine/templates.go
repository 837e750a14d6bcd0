package engine

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// CreateDeployTemplate stores a new deploy template. UUID and times are filled
// in.
func (e *Engine) CreateDeployTemplate(ctx context.Context, t node.DeployTemplate) (node.DeployTemplate, error) {
	if t.UUID == "" {
		t.UUID = uuid.NewString()
	}
	t.CreatedAt, t.UpdatedAt = e.Now(), nil
	if err := t.Check(); err != nil {
		return t, err
	}
	return e.Store.InsertDeployTemplate(ctx, t)
}

// DeployTemplate returns a deploy template by UUID or name.
func (e *Engine) DeployTemplate(ctx context.Context, ref string) (node.DeployTemplate, error) {
	return e.Store.DeployTemplate(ctx, ref)
}

// DeployTemplates returns all, in the order of creation.
func (e *Engine) DeployTemplates(ctx context.Context) ([]node.DeployTemplate, error) {
	return e.Store.ListDeployTemplates(ctx)
}

// UpdateDeployTemplate edits a deploy template. edit may run more than once and
// may answer a Refusal. Deploys under way keep the steps they began with.
func (e *Engine) UpdateDeployTemplate(ctx context.Context, ref string, edit func(*node.DeployTemplate) error) (node.DeployTemplate, error) {
	return again(func() (node.DeployTemplate, error) {
		t, err := e.Store.DeployTemplate(ctx, ref)
		if err != nil {
			return t, err
		}
		id, revision, now := t.UUID, t.Revision, e.Now()
		if err := edit(&t); err != nil {
			return t, err
		}
		t.UUID, t.Revision, t.UpdatedAt = id, revision, &now
		if err := t.Check(); err != nil {
			return t, err
		}
		return e.Store.SaveDeployTemplate(ctx, t)
	})
}

// DeleteDeployTemplate removes a deploy template, by UUID or name.
func (e *Engine) DeleteDeployTemplate(ctx context.Context, ref string) error {
	t, err := e.Store.DeployTemplate(ctx, ref)
	if err != nil {
		return err
	}
	return e.Store.DeleteDeployTemplate(ctx, t.UUID)
}

// again repeats an edit as long as others are faster.
func again[T any](try func() (T, error)) (T, error) {
	var saved T
	var err error
	for range maxTries {
		if saved, err = try(); !errors.Is(err, node.ErrStale) {
			break
		}
	}
	return saved, err
}
