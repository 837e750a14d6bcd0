package broken

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
)

// listed is a result of Objects.
type listed struct {
	rows     []objects.Row
	revision int64
}

// Objects lists documents, or fails.
func (s *Store) Objects(ctx context.Context, q objects.Query) ([]objects.Row, int64, error) {
	l, err := answer(s, "Objects", func() (listed, error) {
		rows, revision, err := s.inner.Objects(ctx, q)
		return listed{rows, revision}, err
	})
	return l.rows, l.revision, err
}

// WriteObjects writes documents, or fails.
func (s *Store) WriteObjects(ctx context.Context, writes []objects.Write, done func([]int64)) error {
	return nothing(s, "WriteObjects", func() error { return s.inner.WriteObjects(ctx, writes, done) })
}
