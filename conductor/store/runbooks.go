package store

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// ListRunbooks lists all runbooks in the order of creation.
func (s *SQLite) ListRunbooks(ctx context.Context) ([]node.Runbook, error) {
	return runbooks.list(ctx, s, everything)
}

// Runbook finds a runbook by UUID or name.
func (s *SQLite) Runbook(ctx context.Context, ref string) (node.Runbook, error) {
	return runbooks.find(ctx, s, ref)
}

// InsertRunbook adds a runbook.
func (s *SQLite) InsertRunbook(ctx context.Context, r node.Runbook) (node.Runbook, error) {
	return runbooks.insert(ctx, s, r)
}

// SaveRunbook replaces a runbook of the same revision.
func (s *SQLite) SaveRunbook(ctx context.Context, r node.Runbook) (node.Runbook, error) {
	return runbooks.save(ctx, s, r)
}

// DeleteRunbook removes a runbook.
func (s *SQLite) DeleteRunbook(ctx context.Context, uuid string) error {
	return runbooks.drop(ctx, s, uuid)
}
