package broken

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// ListDeployTemplates lists deploy templates, or fails.
func (s *Store) ListDeployTemplates(ctx context.Context) ([]node.DeployTemplate, error) {
	return answer(s, "ListDeployTemplates", func() ([]node.DeployTemplate, error) { return s.inner.ListDeployTemplates(ctx) })
}

// DeployTemplates finds deploy templates by name, or fails.
func (s *Store) DeployTemplates(ctx context.Context, names []string) ([]node.DeployTemplate, error) {
	return answer(s, "DeployTemplates", func() ([]node.DeployTemplate, error) { return s.inner.DeployTemplates(ctx, names) })
}

// DeployTemplate finds a deploy template, or fails.
func (s *Store) DeployTemplate(ctx context.Context, ref string) (node.DeployTemplate, error) {
	return answer(s, "DeployTemplate", func() (node.DeployTemplate, error) { return s.inner.DeployTemplate(ctx, ref) })
}

// InsertDeployTemplate adds a deploy template, or fails.
func (s *Store) InsertDeployTemplate(ctx context.Context, t node.DeployTemplate) (node.DeployTemplate, error) {
	return answer(s, "InsertDeployTemplate", func() (node.DeployTemplate, error) { return s.inner.InsertDeployTemplate(ctx, t) })
}

// SaveDeployTemplate replaces a deploy template, or fails.
func (s *Store) SaveDeployTemplate(ctx context.Context, t node.DeployTemplate) (node.DeployTemplate, error) {
	return answer(s, "SaveDeployTemplate", func() (node.DeployTemplate, error) { return s.inner.SaveDeployTemplate(ctx, t) })
}

// DeleteDeployTemplate removes a deploy template, or fails.
func (s *Store) DeleteDeployTemplate(ctx context.Context, uuid string) error {
	return nothing(s, "DeleteDeployTemplate", func() error { return s.inner.DeleteDeployTemplate(ctx, uuid) })
}

// ListRunbooks lists runbooks, or fails.
func (s *Store) ListRunbooks(ctx context.Context) ([]node.Runbook, error) {
	return answer(s, "ListRunbooks", func() ([]node.Runbook, error) { return s.inner.ListRunbooks(ctx) })
}

// Runbook finds a runbook, or fails.
func (s *Store) Runbook(ctx context.Context, ref string) (node.Runbook, error) {
	return answer(s, "Runbook", func() (node.Runbook, error) { return s.inner.Runbook(ctx, ref) })
}

// InsertRunbook adds a runbook, or fails.
func (s *Store) InsertRunbook(ctx context.Context, r node.Runbook) (node.Runbook, error) {
	return answer(s, "InsertRunbook", func() (node.Runbook, error) { return s.inner.InsertRunbook(ctx, r) })
}

// SaveRunbook replaces a runbook, or fails.
func (s *Store) SaveRunbook(ctx context.Context, r node.Runbook) (node.Runbook, error) {
	return answer(s, "SaveRunbook", func() (node.Runbook, error) { return s.inner.SaveRunbook(ctx, r) })
}

// DeleteRunbook removes a runbook, or fails.
func (s *Store) DeleteRunbook(ctx context.Context, uuid string) error {
	return nothing(s, "DeleteRunbook", func() error { return s.inner.DeleteRunbook(ctx, uuid) })
}
