package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// tx runs statements on a writing connection. Values go in args.
type tx struct {
	dialect
	ctx  context.Context //nolint:containedctx // of the transaction, not of a caller: see below
	conn *sql.Conn
	// prepared are the statements of the connection, so that only fixed texts may be passed: preparing was two
	// fifths of the cost of a write when it was measured. With nil the driver keeps them.
	prepared map[string]*sql.Stmt
	nodes    []written // since the transaction began
	touched  bool      // whether a statement has changed a row since the present job began
	seal     sealer
	group    *string // of the nodes that it may write; nil for all

	addresses *portAddresses // gets the addresses that are written; nil where it is not used
}

// The statements run without the context of a caller: its deadline must not interrupt a
// transaction that others share, nor leave it open whether a write was committed.

func (t *tx) stmt(text string) (*sql.Stmt, error) {
	if s := t.prepared[text]; s != nil {
		return s, nil
	}
	s, err := t.conn.PrepareContext(t.ctx, text)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", text, err)
	}
	t.prepared[text] = s
	return s, nil
}

// exec returns how many rows it touched.
func (t *tx) exec(text string, args ...any) (int64, error) {
	r, err := t.result(text, args)
	if err != nil {
		return 0, err
	}
	rows, err := r.RowsAffected()
	t.touched = t.touched || rows > 0 || err != nil
	return rows, err
}

func (t *tx) result(text string, args []any) (sql.Result, error) {
	if t.prepared == nil {
		return t.conn.ExecContext(t.ctx, t.bind(text), t.args(args)...)
	}
	s, err := t.stmt(text)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(t.ctx, args...)
}

// query calls each for every row.
func (t *tx) query(each func(scan func(...any) error) error, text string, args ...any) error {
	t.touched = t.touched || !strings.HasPrefix(text, "SELECT") // one of the others returns the rows that it changes
	rows, err := t.rows(text, args)
	if err != nil {
		return err
	}
	return eachRow(rows, func(rows *sql.Rows) error { return each(rows.Scan) })
}

func (t *tx) rows(text string, args []any) (*sql.Rows, error) {
	if t.prepared == nil {
		return t.conn.QueryContext(t.ctx, t.bind(text), t.args(args)...)
	}
	s, err := t.stmt(text)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(t.ctx, args...)
}

// exists reports whether text yields a row.
func (t *tx) exists(text string, args ...any) (bool, error) {
	found := false
	err := t.query(func(func(...any) error) error { found = true; return nil }, text, args...)
	return found, err
}

// errPartial is the error of a job that failed after it had changed a row.
var errPartial = errors.New("a write failed half way")

// plain runs the jobs, except those with an ended context, without savepoints: a savepoint costs a fifth of a write.
// SQLite undoes a statement that fails, so a job that fails at its first change needs no savepoint. After errPartial
// the caller must roll the transaction back, and run all jobs again by savepoints.
func (t *tx) plain(jobs []*writeRequest) error {
	for _, j := range jobs {
		if j.err = j.ctx.Err(); j.err != nil {
			continue
		}
		before := len(t.nodes)
		t.touched = false
		switch j.err = j.run(t); {
		case j.err == nil:
		case fatal(j.err):
			return j.err
		case t.touched:
			return errPartial
		default:
			t.nodes = t.nodes[:before]
		}
	}
	return nil
}

// savepoints runs the jobs, except those with an ended context. It returns an error only when the whole transaction has
// failed.
func (t *tx) savepoints(jobs []*writeRequest) error {
	for _, j := range jobs {
		if j.err = j.ctx.Err(); j.err != nil {
			continue
		}
		if err := t.savepoint(j); err != nil {
			return err
		}
	}
	return nil
}

// savepoint runs one job inside the transaction and undoes it alone when it
// fails. It returns an error only when the whole transaction is beyond use.
func (t *tx) savepoint(j *writeRequest) error {
	before := len(t.nodes)
	if _, err := t.exec("SAVEPOINT job"); err != nil {
		return err
	}
	if j.err = j.run(t); j.err == nil {
		_, err := t.exec("RELEASE job")
		return err
	}
	if fatal(j.err) {
		return j.err
	}
	if _, err := t.exec("ROLLBACK TO job"); err != nil {
		return err
	}
	t.nodes = t.nodes[:before]
	_, err := t.exec("RELEASE job")
	return err
}
