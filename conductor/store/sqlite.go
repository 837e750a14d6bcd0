package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	_ "modernc.org/sqlite" // the driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Open opens or creates the database at path, mode 0600 because it holds passwords and
// tokens, and brings its schema up to date. A file that is no whole database of ours is
// ErrDamaged, and stays as it is.
func Open(ctx context.Context, path string, o Options) (*Database, error) {
	s, err := open(ctx, path, o)
	if c := code(err) & 0xff; (c == sqlite3.SQLITE_FULL || c == sqlite3.SQLITE_IOERR) && // which a full disk is, too
		os.Truncate(path+reserveSuffix, 0) == nil {
		s, err = open(ctx, path, o)
	}
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", path, full(err))
	}
	return s, nil
}

func open(ctx context.Context, path string, o Options) (*Database, error) {
	if err := inspect(ctx, path); err != nil {
		return nil, err
	}
	if err := private(path); err != nil {
		return nil, err
	}
	write, err := sql.Open("sqlite", writerDSN(path, o))
	if err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	if err := ours(ctx, write); err != nil { // includes tables that only the WAL has
		return nil, errors.Join(err, write.Close())
	}
	seal := sealer{o.Keys}
	if err := prepare(ctx, write, sqliteDialect, migrateSQLite, seal, o); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	s := newDatabase("database "+path, sqliteDialect, seal, o)
	if s.read, err = openReaders(path, o); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	s.addresses = newPortAddresses()
	w, err := newSQLiteWriter(ctx, write, path, s, o)
	if err != nil {
		return nil, errors.Join(err, s.read.close(), write.Close())
	}
	s.w, s.documents, s.closers = w, w, []func() error{s.read.close, w.close, write.Close}
	return s, nil
}

// openReaders opens the pool that can only read: behind the writing connection,
// reads would wait for every flush.
func openReaders(path string, o Options) (*reader, error) {
	db, err := sql.Open("sqlite", dsn(path, url.Values{
		"mode": {"ro"}, "_query_only": {"1"}, "_busy_timeout": {"5000"},
	}))
	if err != nil {
		return nil, err
	}
	n := o.Readers
	if n <= 0 {
		n = 4
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return newReader(db, sqliteDialect), nil
}

// writerDSN: WAL so that readers never wait, FULL so that a decision survives a
// loss of power, immediate so that a transaction never finds out late that it
// may not write.
func writerDSN(path string, o Options) string {
	v := url.Values{
		"_txlock": {"immediate"}, "_journal_mode": {"WAL"}, "_synchronous": {"FULL"},
		"_busy_timeout": {"5000"}, "_foreign_keys": {"on"},
		// A burst's WAL is cut back to 64 MiB. Deleted bytes are overwritten, and not left in free pages.
		"_pragma": {"journal_size_limit(67108864)", "secure_delete(ON)"},
	}
	if o.NoSync {
		v.Set("_synchronous", "OFF")
	}
	if o.MaxPages > 0 {
		v.Add("_pragma", "max_page_count("+strconv.Itoa(o.MaxPages)+")")
	}
	return dsn(path, v)
}

func dsn(path string, v url.Values) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + v.Encode()
}

// private creates path when it is missing and takes it from everyone else.
func private(path string) error {
	f, err := os.OpenFile(filepath.Clean(path), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

// forgetInSQLite leaves no page with deleted bytes in the file, and no frame in the WAL.
func forgetInSQLite(ctx context.Context, db *sql.DB, step func(string) error) error {
	if _, err := db.ExecContext(ctx, "VACUUM"); err != nil {
		return fmt.Errorf("vacuum, which needs as much room again as the file has: %w", full(err))
	}
	if err := step("vacuum"); err != nil {
		return err
	}
	var busy, frames, moved int
	const truncate = "PRAGMA wal_checkpoint(TRUNCATE)"
	if err := db.QueryRowContext(ctx, truncate).Scan(&busy, &frames, &moved); err != nil {
		return fmt.Errorf("truncate the WAL: %w", err)
	}
	if busy != 0 {
		return errors.New("truncate the WAL: another program reads the database; end it, and start again")
	}
	return step("truncate the WAL")
}
