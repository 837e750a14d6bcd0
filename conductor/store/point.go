package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// points are the reads of one row that happen all the time, prepared once per
// reading connection.
type points struct {
	node, port, effect *sql.Stmt
}

func (p *points) prepare(ctx context.Context, db *sql.DB) error {
	for _, s := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&p.node, "SELECT doc FROM nodes WHERE uuid = ?1 OR name = ?1 AND name <> '' ORDER BY uuid = ?1 DESC LIMIT 1"},
		{&p.port, "SELECT doc FROM ports WHERE uuid = ?1 OR name = ?1 ORDER BY uuid = ?1 DESC LIMIT 1"},
		{&p.effect, "SELECT " + effectColumns + " FROM effects WHERE node = ?"},
	} {
		var err error
		if *s.to, err = db.PrepareContext(ctx, s.text); err != nil {
			return errors.Join(fmt.Errorf("prepare %q: %w", s.text, err), p.close())
		}
	}
	return nil
}

func (p *points) close() error {
	var errs []error
	for _, s := range []*sql.Stmt{p.node, p.port, p.effect} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}
