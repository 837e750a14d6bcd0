package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// tx runs statements on the writing connection, each prepared once: preparing
// was two fifths of the cost of a write when it was measured. Only fixed texts
// may be passed, values go in args.
type tx struct {
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
	nodes    []written // since the transaction began
	seal     sealer
}

// The statements run without a context on purpose: one caller's deadline must
// not interrupt a transaction that others share. The work is local and bounded.

func (t *tx) stmt(text string) (*sql.Stmt, error) {
	if s := t.prepared[text]; s != nil {
		return s, nil
	}
	s, err := t.conn.PrepareContext(context.Background(), text)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", text, err)
	}
	t.prepared[text] = s
	return s, nil
}

// exec returns how many rows it touched.
func (t *tx) exec(text string, args ...any) (int64, error) {
	s, err := t.stmt(text)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// query calls each for every row.
func (t *tx) query(each func(scan func(...any) error) error, text string, args ...any) (err error) {
	s, err := t.stmt(text)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(context.Background(), args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// exists reports whether text yields a row.
func (t *tx) exists(text string, args ...any) (bool, error) {
	found := false
	err := t.query(func(func(...any) error) error { found = true; return nil }, text, args...)
	return found, err
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

// rollback ends the transaction. SQLite may have ended it by itself already,
// which it does on a full disk; saying so is then its only answer.
func (t *tx) rollback(cause error) error {
	_, err := t.exec("ROLLBACK")
	if err != nil && !noTransaction(err) {
		return errors.Join(full(cause), fmt.Errorf("roll back: %w", err))
	}
	return full(cause)
}

func (t *tx) close() error {
	var errs []error
	for _, s := range t.prepared {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, t.conn.Close())...)
}
