package store

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// everything leaves a list as it is.
func everything(*bun.SelectQuery) {}

// ListDeployTemplates lists all deploy templates in the order of creation.
func (s *SQLite) ListDeployTemplates(ctx context.Context) ([]node.DeployTemplate, error) {
	return deployTemplates.list(ctx, s, everything)
}

// DeployTemplates returns those whose name is among names.
func (s *SQLite) DeployTemplates(ctx context.Context, names []string) ([]node.DeployTemplate, error) {
	if len(names) == 0 {
		return nil, ctx.Err()
	}
	return deployTemplates.list(ctx, s, func(sel *bun.SelectQuery) { sel.Where("name IN ?", bun.Tuple(names)) })
}

// DeployTemplate finds a deploy template by UUID or name.
func (s *SQLite) DeployTemplate(ctx context.Context, ref string) (node.DeployTemplate, error) {
	return deployTemplates.find(ctx, s, ref)
}

// InsertDeployTemplate adds a deploy template.
func (s *SQLite) InsertDeployTemplate(ctx context.Context, t node.DeployTemplate) (node.DeployTemplate, error) {
	return deployTemplates.insert(ctx, s, t)
}

// SaveDeployTemplate replaces a deploy template of the same revision.
func (s *SQLite) SaveDeployTemplate(ctx context.Context, t node.DeployTemplate) (node.DeployTemplate, error) {
	return deployTemplates.save(ctx, s, t)
}

// DeleteDeployTemplate removes a deploy template.
func (s *SQLite) DeleteDeployTemplate(ctx context.Context, uuid string) error {
	return deployTemplates.drop(ctx, s, uuid)
}
