package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Options are the options of Open; the zero value is right for production.
type Options struct {
	// Readers is how many reads can run at once, 4 when 0.
	Readers int
	// MaxPages bounds the file, in pages of 4096 bytes; 0 for no bound.
	MaxPages int
	// NoSync leaves flushing to the operating system: a loss of power can then
	// undo the newest writes. For tests.
	NoSync bool
	// CacheBytes bounds the documents whose nodes are kept decoded, 6 MiB when 0:
	// some thousands of nodes. Decoded they take about four times that.
	CacheBytes int
}

// SQLite is a Store in one file (and its -wal and -shm companions).
type SQLite struct {
	path  string
	write *sql.DB // one connection, held by w
	w     *writer
	read  *reader
	cache *nodeCache
}

// Open opens or creates the database at path, mode 0600 because it holds passwords and
// tokens, and brings its schema up to date. A file that is no whole database of ours is
// ErrDamaged, and stays as it is.
func Open(ctx context.Context, path string, o Options) (*SQLite, error) {
	if err := inspect(ctx, path); err != nil {
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	if err := private(path); err != nil {
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	s, err := open(ctx, path, o)
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", path, full(err))
	}
	return s, nil
}

func open(ctx context.Context, path string, o Options) (*SQLite, error) {
	write, err := sql.Open("sqlite", writerDSN(path, o))
	if err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	if err := ours(ctx, write); err != nil { // with what is in the WAL alone
		return nil, errors.Join(err, write.Close())
	}
	if err := migrate(ctx, write); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	s := &SQLite{path: path, write: write, cache: newNodeCache(cmp.Or(o.CacheBytes, 6<<20))}
	if err := s.openReaders(ctx, o); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	if s.w, err = newWriter(ctx, write, path, s.cache); err != nil {
		return nil, errors.Join(err, s.read.close(), write.Close())
	}
	return s, nil
}

// openReaders opens the pool that can only read: behind the writing connection,
// reads would wait for every flush.
func (s *SQLite) openReaders(ctx context.Context, o Options) error {
	db, err := sql.Open("sqlite", dsn(s.path, url.Values{
		"mode": {"ro"}, "_query_only": {"1"}, "_busy_timeout": {"5000"},
	}))
	if err != nil {
		return err
	}
	n := o.Readers
	if n <= 0 {
		n = 4
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	s.read = newReader(db)
	return nil
}

// writerDSN: WAL so that readers never wait, FULL so that a decision survives a
// loss of power, immediate so that a transaction never finds out late that it
// may not write.
func writerDSN(path string, o Options) string {
	v := url.Values{
		"_txlock": {"immediate"}, "_journal_mode": {"WAL"}, "_synchronous": {"FULL"},
		"_busy_timeout": {"5000"}, "_foreign_keys": {"on"},
		"_pragma": {"journal_size_limit(67108864)"}, // a burst's WAL is cut back to 64 MiB
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

// Close waits for the writes under way and closes the file. Writes after it
// answer an error.
func (s *SQLite) Close() error {
	err := errors.Join(s.read.close(), s.w.close(), s.write.Close())
	if err != nil {
		return fmt.Errorf("close database %s: %w", s.path, err)
	}
	return nil
}
