package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/seal"
)

// ErrNotEmpty refuses to copy into a database that holds something.
var ErrNotEmpty = errors.New("it is not empty")

// Place is where a database is: in a file of SQLite's, or on a server of PostgreSQL.
type Place struct {
	File     string // SQLite's; "" for a server
	Address  string // URL of the server
	Password string // where neither the URL nor PGPASSFILE has it
}

func (p Place) String() string {
	if p.File != "" {
		return "database " + p.File
	}
	return PostgresName(p.Address)
}

// Copied is a table that was copied: its rows, and the SHA-256 over them in the order of their keys. It is the same in
// every database that holds the same.
type Copied struct {
	Table    string
	Rows     int64
	Checksum string
}

// CopyOptions are the options of Copy.
type CopyOptions struct {
	// Keys must include every key that sealed values of the source; else Copy fails with ErrKeys. Nil skips this check.
	Keys *seal.Ring
	// Done is called after each table that was copied; its error ends the copy. It may be nil.
	Done func(Copied) error
}

// Copy copies all rows of a database into an empty one. No conductor may use either (ErrInUse): the caller sees to the
// lock of a file's folder. Rows are streamed. Both are read again and compared before anything of the copy can be
// seen: after an error, or a kill, to is as empty as it was.
func Copy(ctx context.Context, from, to Place, o CopyOptions) (all []Copied, err error) {
	c := &copying{done: o.Done}
	if c.from, err = openSource(ctx, from); err != nil {
		return nil, fmt.Errorf("%s: %w", from, full(err))
	}
	defer func() { err = errors.Join(err, c.from.close()) }()
	if err := c.from.opens(ctx, o.Keys); err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	if c.to, err = openTarget(ctx, to); err != nil {
		return nil, fmt.Errorf("%s: %w", to, full(err))
	}
	defer func() { err = errors.Join(err, c.to.close()) }()
	if all, err = c.tables(ctx); err != nil {
		return nil, fmt.Errorf("copy to %s, which stays empty: %w", to, full(err))
	}
	return all, nil
}

// copying is one Copy.
type copying struct {
	from, to *copySide
	done     func(Copied) error
}

func (c *copying) tables(ctx context.Context) (all []Copied, err error) {
	for _, t := range copiedTables {
		if err := c.to.empty(ctx, t); err != nil {
			return nil, err
		}
	}
	for _, t := range copiedTables {
		columns, err := c.columns(ctx, t)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.name, err)
		}
		one, err := c.table(ctx, t, columns)
		if err == nil && c.done != nil {
			err = c.done(one)
		}
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.name, err)
		}
		all = append(all, one)
	}
	return all, c.to.commit(ctx)
}

// columns lists the columns of a table, which must be the same on both sides.
func (c *copying) columns(ctx context.Context, t copiedTable) ([]copiedColumn, error) {
	from, err := c.from.columns(ctx, t)
	if err != nil {
		return nil, err
	}
	to, err := c.to.columns(ctx, t)
	if err != nil {
		return nil, err
	}
	if len(from) == 0 || !slices.EqualFunc(from, to, copiedColumn.same) {
		return nil, fmt.Errorf("expected the columns %v, found %v: start the newest conductor once on the older database",
			from, to)
	}
	return to, nil
}

// table copies the rows, reads them back, and compares.
func (c *copying) table(ctx context.Context, t copiedTable, columns []copiedColumn) (Copied, error) {
	source, err := c.from.rows(ctx, t, columns)
	if err != nil {
		return Copied{}, err
	}
	if err := errors.Join(c.to.fill(ctx, t, columns, source), source.Close()); err != nil {
		return Copied{}, err
	}
	if err := c.number(ctx, t); err != nil {
		return Copied{}, fmt.Errorf("go on with its numbers: %w", err)
	}
	written, err := c.to.rows(ctx, t, columns)
	if err != nil {
		return Copied{}, err
	}
	for err == nil && written.Next() {
		_, err = written.Values()
	}
	if err := errors.Join(err, written.Err(), written.Close()); err != nil {
		return Copied{}, err
	}
	read, wrote := source.copied(t.name), written.copied(t.name)
	if read != wrote {
		return Copied{}, fmt.Errorf("expected %d rows with the checksum %s, found %d with %s: run "+
			"ferrite server store check on the source", read.Rows, read.Checksum, wrote.Rows, wrote.Checksum)
	}
	return read, nil
}

// number has the target give the ids that the source would give next: an id is never used twice.
func (c *copying) number(ctx context.Context, t copiedTable) error {
	if !t.numbered {
		return nil
	}
	last, err := c.from.lastID(ctx, t)
	if err != nil || last == 0 {
		return err
	}
	return c.to.setLastID(ctx, t, last)
}

// opens refuses a database with values that are sealed with keys which the ring does not have.
func (s *copySide) opens(ctx context.Context, ring *seal.Ring) error {
	if ring == nil {
		return nil
	}
	used, err := keysInUse(ctx, s.conn)
	if err != nil {
		return fmt.Errorf("read the ids of the keys: %w", err)
	}
	var missing []string
	for id := range used {
		if !ring.Holds(id) {
			missing = append(missing, id.String())
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		return fmt.Errorf("%w: expected the key %s, found %s", ErrKeys, strings.Join(missing, ", "), ring.Current())
	}
	return nil
}
