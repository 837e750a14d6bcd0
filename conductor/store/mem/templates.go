package mem

import (
	"context"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// ListDeployTemplates lists all deploy templates in the order of creation.
func (s *Store) ListDeployTemplates(ctx context.Context) ([]node.DeployTemplate, error) {
	return s.templates.list(ctx, s, func(*node.DeployTemplate) bool { return true })
}

// DeployTemplates returns those whose name is among names.
func (s *Store) DeployTemplates(ctx context.Context, names []string) ([]node.DeployTemplate, error) {
	return s.templates.list(ctx, s, func(t *node.DeployTemplate) bool { return slices.Contains(names, t.Name) })
}

// DeployTemplate finds a deploy template by UUID or name.
func (s *Store) DeployTemplate(ctx context.Context, ref string) (node.DeployTemplate, error) {
	return s.templates.find(ctx, s, ref)
}

// InsertDeployTemplate adds a deploy template.
func (s *Store) InsertDeployTemplate(ctx context.Context, t node.DeployTemplate) (node.DeployTemplate, error) {
	return s.templates.insert(ctx, s, t)
}

// SaveDeployTemplate replaces a deploy template of the same revision.
func (s *Store) SaveDeployTemplate(ctx context.Context, t node.DeployTemplate) (node.DeployTemplate, error) {
	return s.templates.save(ctx, s, t)
}

// DeleteDeployTemplate removes a deploy template.
func (s *Store) DeleteDeployTemplate(ctx context.Context, uuid string) error {
	return s.templates.remove(ctx, s, uuid)
}
