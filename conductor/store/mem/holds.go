package mem

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Hold returns the hold, the zero value for none.
func (s *Store) Hold(ctx context.Context) (node.RestoreHold, error) {
	if err := s.lock(ctx); err != nil {
		return node.RestoreHold{}, err
	}
	defer s.mu.Unlock()
	return s.onHold, nil
}

// SetHold begins a hold, or ends it with the zero value.
func (s *Store) SetHold(ctx context.Context, h node.RestoreHold) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.onHold = node.RestoreHold{Since: micro(h.Since), Backup: micro(h.Backup)}
	return nil
}
