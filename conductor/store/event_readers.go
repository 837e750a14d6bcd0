package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// EventReader is the place of a reader of events; false for a new one.
func (s *Database) EventReader(ctx context.Context, name string) (at int64, known bool, err error) {
	err = s.read.row(ctx, []any{&at}, "SELECT position FROM event_readers WHERE name = ?", name)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, false, nil
	case err != nil:
		return 0, false, fmt.Errorf("read the place of %s: %w", name, err)
	}
	return at, true, nil
}

// SaveEventReader keeps the place of a reader of events.
func (s *Database) SaveEventReader(ctx context.Context, name string, position int64) error {
	return s.w.do(ctx, func(t *tx) error {
		_, err := t.exec("INSERT INTO event_readers (name, position) VALUES (?1, ?2) "+
			"ON CONFLICT (name) DO UPDATE SET position = ?2", name, position)
		return err
	})
}

// KeepEventReaders forgets all readers of events but these.
func (s *Database) KeepEventReaders(ctx context.Context, names []string) error {
	return s.w.do(ctx, func(t *tx) error {
		_, err := t.exec("DELETE FROM event_readers WHERE name NOT IN ("+t.among+")", t.list(names))
		return err
	})
}
