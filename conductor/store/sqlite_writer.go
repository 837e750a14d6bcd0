package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// sqliteWriter owns the one writing connection of a file.
type sqliteWriter struct {
	tx    *tx
	cache *nodeCache
	files *present
}

func newSQLiteWriter(ctx context.Context, db *sql.DB, path string, s *Database, o Options) (*writer, error) {
	files := newPresent(path)
	if err := files.check(); err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	t := &tx{dialect: sqliteDialect, ctx: context.WithoutCancel(ctx), conn: conn, prepared: map[string]*sql.Stmt{},
		seal: s.seal, addresses: s.addresses}
	kept, err := newReserve(&sqliteWriter{tx: t, cache: s.cache, files: files}, path+reserveSuffix, o)
	if err != nil {
		return nil, errors.Join(err, t.close())
	}
	s.full = kept.ready
	return newWriter(kept.transact, kept.close), nil
}

// transact leaves each job's own error in it. It returns an error when the transaction failed: then none of the jobs
// was done.
func (w *sqliteWriter) transact(jobs []*writeRequest) error {
	if err := w.files.check(); err != nil {
		return err
	}
	err := w.by(w.tx.plain, jobs)
	if errors.Is(err, errPartial) {
		return w.by(w.tx.savepoints, jobs)
	}
	return err
}

// by runs the jobs in one transaction.
func (w *sqliteWriter) by(run func([]*writeRequest) error, jobs []*writeRequest) error {
	w.tx.nodes = w.tx.nodes[:0]
	if _, err := w.tx.exec("BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin: %w", full(err))
	}
	if err := run(jobs); err != nil {
		return rollback(w.tx, err)
	}
	written := w.cache.writing(w.tx.nodes) // readers may see it before COMMIT returns
	_, err := w.tx.exec("COMMIT")
	written(err == nil)
	if err != nil {
		return rollback(w.tx, fmt.Errorf("commit: %w", err))
	}
	return nil
}

// rollback ends the transaction. SQLite may have ended it by itself already,
// which it does on a full disk; saying so is then its only answer.
func rollback(t *tx, cause error) error {
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
