package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// statements are the small reads that happen all the time, each prepared once
// per reading connection: to prepare one takes longer than to do it. Only fixed
// texts may be passed, values go in args.
type statements struct {
	db       *sql.DB
	mu       sync.Mutex
	prepared map[string]*sql.Stmt
}

func (s *statements) stmt(ctx context.Context, text string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.prepared[text]; p != nil {
		return p, nil
	}
	p, err := s.db.PrepareContext(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", text, err)
	}
	s.prepared[text] = p
	return p, nil
}

// row reads the one row text selects into places; sql.ErrNoRows when it selects
// none.
func (s *statements) row(ctx context.Context, places []any, text string, args ...any) error {
	p, err := s.stmt(ctx, text)
	if err != nil {
		return err
	}
	return p.QueryRowContext(ctx, args...).Scan(places...)
}

// texts reads the only column of all rows.
func (s *statements) texts(ctx context.Context, text string, args ...any) (all []string, err error) {
	p, err := s.stmt(ctx, text)
	if err != nil {
		return nil, err
	}
	rows, err := p.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var v string
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

func (s *statements) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, p := range s.prepared {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}
