package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

func (s *copySide) sqlite() {
	s.dialect = sqliteDialect
	s.columnsOf = "SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden = 0"
	s.lastID = func(ctx context.Context, t copiedTable) (last int64, err error) {
		err = s.conn.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?", t.name).
			Scan(&last)
		return last, err
	}
	s.setLastID = func(ctx context.Context, t copiedTable, last int64) error {
		if err := s.exec(ctx, "DELETE FROM sqlite_sequence WHERE name = ?", t.name); err != nil {
			return err
		}
		return s.exec(ctx, "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", t.name, last)
	}
	s.fill = s.insert
}

func openSQLiteSource(ctx context.Context, s *copySide, p Place) error {
	if err := s.openSQLite(ctx, p); err != nil {
		return err
	}
	known, err := newestSchema()
	if err != nil {
		return err
	}
	return errors.Join(s.newest(ctx, known), s.exec(ctx, "BEGIN"))
}

// openSQLite opens a file to read it, and changes nothing.
func (s *copySide) openSQLite(ctx context.Context, p Place) error {
	s.sqlite()
	there, err := inspectFile(p.File)
	if err == nil && !there {
		err = os.ErrNotExist
	}
	if err != nil {
		return err
	}
	if err := s.openDB(dsn(p.File, checking(p.File))); err != nil {
		return err
	}
	if err := s.connect(ctx); err != nil {
		return err
	}
	return ours(ctx, s.conn)
}

// openDB opens a file on one connection: the lock, and the index of the WAL, are the connection's own.
func (s *copySide) openDB(dsn string) (err error) {
	if s.db, err = sql.Open("sqlite", dsn); err != nil {
		return err
	}
	s.db.SetMaxOpenConns(1)
	s.closers = append(s.closers, s.db.Close)
	return nil
}

// openSQLiteTarget fills a file beside the requested one, and renames it at the end.
func openSQLiteTarget(ctx context.Context, s *copySide, p Place) error {
	s.sqlite()
	if there, err := inspectFile(p.File); err != nil || there {
		return errors.Join(err, ErrNotEmpty)
	}
	part := p.File + ".copy"
	remove := func() error {
		var errs []error
		for _, name := range []string{part, part + "-wal", part + "-shm"} {
			if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	}
	if err := errors.Join(remove(), private(part)); err != nil { // of a copy that was cut off
		return err
	}
	s.closers = append(s.closers, remove)
	if err := s.openDB(writerDSN(part, Options{})); err != nil {
		return err
	}
	if _, err := migrateSQLite(ctx, s.db); err != nil {
		return err
	}
	if err := s.connect(ctx); err != nil {
		return err
	}
	s.commit = func(ctx context.Context) error {
		// SQLite moves the WAL into the file when its last connection closes.
		if err := errors.Join(s.exec(ctx, "COMMIT"), s.closeConn(), s.db.Close()); err != nil {
			return err
		}
		return errors.Join(os.Rename(part, p.File), syncFolder(filepath.Dir(p.File)))
	}
	return s.exec(ctx, "BEGIN IMMEDIATE")
}

func syncFolder(dir string) error {
	f, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// insert writes the rows one by one.
func (s *copySide) insert(ctx context.Context, t copiedTable, columns []copiedColumn, rows *copiedRows) (err error) {
	places := strings.Repeat(", ?", len(columns))[2:]
	p, err := s.conn.PrepareContext(ctx,
		"INSERT INTO "+t.name+" ("+strings.Join(columnList(columns), ", ")+") VALUES ("+places+")")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return err
		}
		if _, err := p.ExecContext(ctx, values...); err != nil {
			return err
		}
	}
	return rows.Err()
}
