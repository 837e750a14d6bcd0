package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/seal"
)

// Options are the options of Open. A conductor sets Keys; the zero value of the others is
// right for production.
type Options struct {
	// Readers is how many reads can run at once, 4 when 0.
	Readers int
	// MaxPages bounds SQLite's file, in pages of 4096 bytes; 0 for no bound.
	MaxPages int
	// Reserve is the room in bytes that a file beside SQLite's keeps for writes that make room on a full disk; 0 for none.
	Reserve int64
	// Room is called with ErrFull when a write finds no room, and with nil when there is room again; it may be nil.
	Room func(full error)
	// NoSync leaves flushing to the operating system: a loss of power can then
	// undo the newest writes. For tests.
	NoSync bool
	// CacheBytes bounds the documents of the nodes that are kept decoded, 6 MiB when 0: some thousands of nodes. A
	// decoded node takes about four times the size of its document.
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

// Database is a Store in an SQL database: in one file of SQLite's, or on a server of PostgreSQL.
type Database struct {
	dialect   dialect
	name      string // for errors
	w         writes
	documents *writer // writes documents, in the order of their revisions
	read      *reader
	cache     *nodeCache
	addresses *portAddresses // nil for PostgreSQL, where other conductors write some
	seal      sealer
	claim     string
	lead      writeRight            // nil for SQLite
	full      func() error          // why a write finds no room
	group     *string               // this conductor's group of nodes; nil for all nodes
	resize    func(connections int) // nil for SQLite
	closers   []func() error
}

// writes runs a write in a transaction, and waits until it is on the disk or refused. A context that ends before the
// write has begun withdraws it. Later the context is ignored, so that its end never makes the answer uncertain.
type writes interface {
	do(ctx context.Context, run func(t *tx) error) error
}

func newDatabase(name string, d dialect, seal sealer, o Options) *Database {
	return &Database{
		dialect: d, name: name, seal: seal, cache: newNodeCache(cmp.Or(o.CacheBytes, 6<<20), seal), claim: claimEffects(d),
	}
}

// prepare brings the schema up to date, and seals all values with the newest key.
func prepare(
	ctx context.Context, db *sql.DB, d dialect, migrate func(context.Context, *sql.DB) (int64, error), seal sealer,
	o Options,
) error {
	before, err := migrate(ctx, db)
	if err != nil {
		return err
	}
	return sealing{seal, db, d, o.step()}.all(ctx, before == 0, o.DropLost)
}

// step is Sealing, or does nothing.
func (o *Options) step() func(string) error {
	if o.Sealing == nil {
		return func(string) error { return nil }
	}
	return o.Sealing
}

// Ready is why the database cannot be used at the moment, nil when it can.
func (s *Database) Ready() error {
	if s.lead == nil {
		return s.full()
	}
	return errors.Join(s.lead.state(), s.full())
}

// Close waits for the writes under way and closes the database. Writes after it
// answer an error.
func (s *Database) Close() error {
	var errs []error
	for _, closer := range s.closers {
		errs = append(errs, closer())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close %s: %w", s.name, err)
	}
	return nil
}
