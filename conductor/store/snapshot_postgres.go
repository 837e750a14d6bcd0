package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/seal"
)

// SnapshotPostgres writes a database of PostgreSQL, as it is at one moment, to a new file of SQLite's. Conductors may
// be running on it; their writes neither wait nor are lost. keys is given the keys that a cluster shares, as they were
// at that moment, and returns those that open the database (ErrKeys).
func SnapshotPostgres(
	ctx context.Context, from Place, to string, keys func([]SharedKey) (*seal.Ring, error),
) (err error) {
	c := &copying{from: &copySide{}}
	defer func() { err = errors.Join(err, c.from.close()) }()
	if err := c.openServer(ctx, from, keys); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	if c.to, err = openTarget(ctx, Place{File: to}); err != nil {
		return fmt.Errorf("%s: %w", to, full(err))
	}
	defer func() { err = errors.Join(err, c.to.close()) }()
	if _, err := c.tables(ctx); err != nil {
		return fmt.Errorf("copy the %s to %s: %w", from, to, full(err))
	}
	return nil
}

// openServer opens the source, without the right to write to it.
func (c *copying) openServer(ctx context.Context, from Place, keys func([]SharedKey) (*seal.Ring, error)) error {
	if err := c.from.openSnapshot(ctx, from); err != nil {
		return err
	}
	known, err := newestIn(postgresMigrations, "migrations/postgres")
	if err != nil {
		return err
	}
	if err := c.from.newest(ctx, known); err != nil {
		return err
	}
	var shared []SharedKey
	err = c.from.each(ctx, listSharedKeys, func(rows *sql.Rows) error {
		var k SharedKey
		err := rows.Scan(&k.Name, &k.Number, &k.Sealed)
		shared = append(shared, k)
		return err
	})
	if err != nil {
		return fmt.Errorf("read the shared keys: %w", err)
	}
	ring, err := keys(shared)
	if err != nil {
		return err
	}
	return c.from.opens(ctx, ring)
}
