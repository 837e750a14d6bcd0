package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// copySide is one of the two databases of a Copy, on one connection that has a transaction open.
type copySide struct {
	dialect
	ofServer  bool
	db        *sql.DB
	conn      *sql.Conn
	closeConn func() error
	// columnsOf lists name and type of the stored columns of a table.
	columnsOf string
	// fill writes rows into an empty table.
	fill func(ctx context.Context, t copiedTable, columns []copiedColumn, rows *copiedRows) error
	// lastID is the newest id that a table has given, 0 for none.
	lastID    func(ctx context.Context, t copiedTable) (int64, error)
	setLastID func(ctx context.Context, t copiedTable, last int64) error
	commit    func(ctx context.Context) error
	closers   []func() error // the last one first
}

func (s *copySide) close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	return errors.Join(errs...)
}

// connect takes the one connection of the side.
func (s *copySide) connect(ctx context.Context) (err error) {
	if s.conn, err = s.db.Conn(ctx); err != nil {
		return err
	}
	s.closeConn = sync.OnceValue(s.conn.Close)
	s.closers = append(s.closers, s.closeConn)
	return nil
}

func (s *copySide) exec(ctx context.Context, text string, args ...any) error {
	_, err := s.conn.ExecContext(ctx, text, args...)
	return err
}

// empty refuses a table with rows. The row of the documents' revision is part of the schema, and goes.
func (s *copySide) empty(ctx context.Context, t copiedTable) error {
	if t.name == "objects_revision" {
		if err := s.exec(ctx, "DELETE FROM objects_revision WHERE revision = 0"); err != nil {
			return err
		}
	}
	var rows int64
	if err := s.conn.QueryRowContext(ctx, "SELECT count(*) FROM "+t.name).Scan(&rows); err != nil {
		return err
	}
	if rows > 0 {
		return fmt.Errorf("%w: expected no row in %s, found %d: copy into a new database", ErrNotEmpty, t.name, rows)
	}
	return nil
}

// newest refuses a source with another schema than this build's.
func (s *copySide) newest(ctx context.Context, known int64) error {
	var version int64
	err := s.conn.QueryRowContext(ctx, newestVersion).Scan(&version)
	if err == nil && version != known {
		err = fmt.Errorf("expected the schema of version %d, which this build writes, found version %d: start its newest "+
			"conductor once, end it, and copy then", known, version)
	}
	return err
}

// newestVersion is the version of a database's schema.
const newestVersion = "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied"

func openSource(ctx context.Context, p Place) (*copySide, error) {
	return openSide(ctx, p, openSQLiteSource, openPostgresSource)
}

func openTarget(ctx context.Context, p Place) (*copySide, error) {
	return openSide(ctx, p, openSQLiteTarget, openPostgresTarget)
}

type opener func(ctx context.Context, s *copySide, p Place) error

func openSide(ctx context.Context, p Place, file, server opener) (*copySide, error) {
	open := server
	if p.File != "" {
		open = file
	}
	s := &copySide{}
	if err := open(ctx, s, p); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}
