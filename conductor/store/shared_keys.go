package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/seal"
)

// SharedKey is a key that all conductors of a cluster have. Number grows with every change.
type SharedKey struct {
	Name   string
	Number int64
	Sealed []byte // with the cluster key
}

const listSharedKeys = "SELECT name, number, sealed FROM shared_keys ORDER BY name"

// SharedKeys lists the keys by name.
func (m *Members) SharedKeys(ctx context.Context) (all []SharedKey, err error) {
	rows, err := m.db.QueryContext(ctx, listSharedKeys)
	if err == nil {
		err = eachRow(rows, func(rows *sql.Rows) error {
			var k SharedKey
			err := rows.Scan(&k.Name, &k.Number, &k.Sealed)
			all = append(all, k)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read the shared keys: %w", err)
	}
	return all, nil
}

// PutSharedKey stores a key under the number k.Number: 1 for a new key, else the stored number plus one. It returns
// false when another conductor was faster.
func (m *Members) PutSharedKey(ctx context.Context, k SharedKey) (bool, error) {
	ok, err := touchedOne(m.db.ExecContext(ctx, `INSERT INTO shared_keys AS s (name, number, sealed) SELECT $1, $2, $3
		WHERE $2::bigint = 1 OR EXISTS (SELECT FROM shared_keys WHERE name = $1)
		ON CONFLICT (name) DO UPDATE SET number = excluded.number, sealed = excluded.sealed
		WHERE s.number = excluded.number - 1`, k.Name, k.Number, k.Sealed))
	if err != nil {
		return false, fmt.Errorf("store the shared key %s: %w", k.Name, err)
	}
	return ok, nil
}

// KeysInUse are the ids of the keys that values in the database are sealed with.
func (m *Members) KeysInUse(ctx context.Context) (ids []seal.ID, err error) {
	used, err := keysInUse(ctx, m.db)
	if err != nil {
		return nil, fmt.Errorf("read the ids of the keys: %w", err)
	}
	return slices.Collect(maps.Keys(used)), nil
}

// HasCluster reports whether the conductors of a cluster share the keys of a database. A schema without the table of
// shared keys has no cluster.
func HasCluster(ctx context.Context, address string, o PostgresOptions) (has bool, err error) {
	config, err := postgresConfig(address, o)
	if err != nil {
		return false, err
	}
	db := postgresPool(config, 1)
	defer func() { err = errors.Join(err, db.Close()) }()
	var table bool
	err = db.QueryRowContext(ctx, "SELECT to_regclass('shared_keys') IS NOT NULL").Scan(&table)
	if err == nil && table {
		err = db.QueryRowContext(ctx, "SELECT EXISTS (SELECT FROM shared_keys)").Scan(&has)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", PostgresName(address), err)
	}
	return has, nil
}
