package mem

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// ListRunbooks lists all runbooks in the order of creation.
func (s *Store) ListRunbooks(ctx context.Context) ([]node.Runbook, error) {
	return s.runbooks.list(ctx, s, func(*node.Runbook) bool { return true })
}

// Runbook finds a runbook by UUID or name.
func (s *Store) Runbook(ctx context.Context, ref string) (node.Runbook, error) {
	return s.runbooks.find(ctx, s, ref)
}

// InsertRunbook adds a runbook.
func (s *Store) InsertRunbook(ctx context.Context, r node.Runbook) (node.Runbook, error) {
	return s.runbooks.insert(ctx, s, r)
}

// SaveRunbook replaces a runbook of the same revision.
func (s *Store) SaveRunbook(ctx context.Context, r node.Runbook) (node.Runbook, error) {
	return s.runbooks.save(ctx, s, r)
}

// DeleteRunbook removes a runbook.
func (s *Store) DeleteRunbook(ctx context.Context, uuid string) error {
	return s.runbooks.remove(ctx, s, uuid)
}
