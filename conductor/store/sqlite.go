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

	"github.com/ferrite-metal/ferrite/conductor/seal"
)

// Options are the options of Open. A conductor sets Keys; the zero value of the others is
// right for production.
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
	// Keys seal the secrets of records, and open them. With nil they are stored plain, for
	// tests and simulations; a database with sealed values is then refused.
	Keys *seal.Ring
	// DropLost deletes the values that are sealed with keys that Keys does not hold; Open
	// is refused otherwise (ErrKeys). Their records stay, without them.
	DropLost bool
	// Sealing is called after each step of sealing a database of an earlier build, or of
	// another key; for a log. Open ends with its error, and the next one continues.
	Sealing func(step string) error
}

// SQLite is a Store in one file (and its -wal and -shm companions).
type SQLite struct {
	path  string
	write *sql.DB // one connection, held by w
	w     *writer
	read  *reader
	cache *nodeCache
	seal  sealer
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
	seal := sealer{o.Keys}
	if err := prepare(ctx, write, seal, o); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	s := &SQLite{path: path, write: write, seal: seal, cache: newNodeCache(cmp.Or(o.CacheBytes, 6<<20), seal)}
	if err := s.openReaders(ctx, o); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	if s.w, err = newWriter(ctx, write, path, s.cache, seal); err != nil {
		return nil, errors.Join(err, s.read.close(), write.Close())
	}
	return s, nil
}

// prepare brings the schema up to date, and seals what is not sealed with the newest key.
func prepare(ctx context.Context, db *sql.DB, seal sealer, o Options) error {
	before, err := migrate(ctx, db)
	if err != nil {
		return err
	}
	step := o.Sealing
	if step == nil {
		step = func(string) error { return nil }
	}
	return sealAll(ctx, db, seal, before == 0, o.DropLost, step)
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

// Close waits for the writes under way and closes the file. Writes after it
// answer an error.
func (s *SQLite) Close() error {
	err := errors.Join(s.read.close(), s.w.close(), s.write.Close())
	if err != nil {
		return fmt.Errorf("close database %s: %w", s.path, err)
	}
	return nil
}
