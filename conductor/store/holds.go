package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Hold returns the hold, the zero value for none.
func (s *Database) Hold(ctx context.Context) (h node.RestoreHold, err error) {
	err = s.read.each(ctx, func(rows *sql.Rows) error {
		var since, backup int64
		if err := rows.Scan(&since, &backup); err != nil {
			return err
		}
		h = node.RestoreHold{Since: fromMicros(since), Backup: fromMicros(backup)}
		return nil
	}, "SELECT since, backup FROM holds")
	if err != nil {
		return h, fmt.Errorf("read the hold: %w", err)
	}
	return h, nil
}

// SetHold begins a hold, or ends it with the zero value.
func (s *Database) SetHold(ctx context.Context, h node.RestoreHold) error {
	err := s.w.do(ctx, func(t *tx) error {
		if _, err := t.exec("DELETE FROM holds"); err != nil || !h.Held() {
			return err
		}
		_, err := t.exec("INSERT INTO holds (id, since, backup) VALUES (1, ?, ?)", micros(h.Since), micros(h.Backup))
		return err
	})
	if err != nil {
		return fmt.Errorf("save the hold: %w", err)
	}
	return nil
}
