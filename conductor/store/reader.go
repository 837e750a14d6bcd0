package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// reader runs reads on a pool of connections that cannot write.
type reader struct {
	dialect
	db       *sql.DB
	mu       sync.Mutex
	prepared map[string]*sql.Stmt
	// patiently repeats a read after its connection was lost; nil for SQLite, which has no connection to lose.
	patiently func(ctx context.Context, try func() error) error
}

func newReader(db *sql.DB, d dialect) *reader {
	return &reader{dialect: d, db: db, prepared: map[string]*sql.Stmt{}}
}

// stmt prepares a statement once per connection: to prepare a small read takes
// longer than to run it. Statements are kept, so only fixed texts may be passed.
// Values go in args.
func (r *reader) stmt(ctx context.Context, text string) (*sql.Stmt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.prepared[text]; p != nil {
		return p, nil
	}
	p, err := r.db.PrepareContext(ctx, r.bind(text))
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", text, err)
	}
	r.prepared[text] = p
	return p, nil
}

// row scans the one row of a fixed text into places. It returns sql.ErrNoRows
// when there is none.
func (r *reader) row(ctx context.Context, places []any, text string, args ...any) error {
	return r.again(ctx, func() error {
		p, err := r.stmt(ctx, text)
		if err != nil {
			return err
		}
		return p.QueryRowContext(ctx, r.args(args)...).Scan(places...)
	})
}

// again runs a read, and repeats it where its connection was lost.
func (r *reader) again(ctx context.Context, read func() error) error {
	if r.patiently == nil {
		return read()
	}
	return r.patiently(ctx, read)
}

// whole reads all rows by open. It repeats a lost read only before the first row, because a caller keeps scanned rows.
func (r *reader) whole(ctx context.Context, scan func(rows *sql.Rows) error, open func() (*sql.Rows, error)) error {
	var broken error // after the first row
	err := r.again(ctx, func() error {
		rows, err := open()
		if err != nil {
			return err
		}
		began := false
		err = eachRow(rows, func(rows *sql.Rows) error {
			began = true
			return scan(rows)
		})
		if began {
			broken, err = err, nil
		}
		return err
	})
	return errors.Join(err, broken)
}

// each calls scan for every row of a fixed text.
func (r *reader) each(ctx context.Context, scan func(rows *sql.Rows) error, text string, args ...any) error {
	return r.whole(ctx, scan, func() (*sql.Rows, error) {
		p, err := r.stmt(ctx, text)
		if err != nil {
			return nil, err
		}
		return p.QueryContext(ctx, r.args(args)...)
	})
}

// list calls scan for every row of a query. It is not kept prepared, since its text
// depends on the filters.
func (r *reader) list(ctx context.Context, q *query, scan func(rows *sql.Rows) error) error {
	return r.whole(ctx, scan, func() (*sql.Rows, error) { return r.db.QueryContext(ctx, q.String(), r.args(q.values)...) })
}

// eachRow calls scan for every row, and closes them.
func eachRow(rows *sql.Rows, scan func(rows *sql.Rows) error) (err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// texts returns the only column of all rows of a fixed text.
func (r *reader) texts(ctx context.Context, text string, args ...any) (all []string, err error) {
	err = r.each(ctx, func(rows *sql.Rows) error {
		var v string
		if err := rows.Scan(&v); err != nil {
			return err
		}
		all = append(all, v)
		return nil
	}, text, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// close closes the statements and the connections.
func (r *reader) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, p := range r.prepared {
		errs = append(errs, p.Close())
	}
	return errors.Join(append(errs, r.db.Close())...)
}
