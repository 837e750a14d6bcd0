package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// ChangeSharedKeys seals the keys of a cluster anew, all or none. No conductor may run (ErrInUse): it would not know
// the new key. n is how many there are.
func ChangeSharedKeys(
	ctx context.Context, address string, o PostgresOptions, change func(SharedKey) (sealed []byte, err error),
) (n int, err error) {
	config, err := postgresConfig(address, o)
	if err != nil {
		return 0, err
	}
	l, err := lead(ctx, config, nil)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", PostgresName(address), err)
	}
	defer func() { err = errors.Join(err, l.close()) }()
	err = pgx.BeginFunc(ctx, l.conn, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, listSharedKeys+" FOR UPDATE")
		if err != nil {
			return err
		}
		keys, err := pgx.CollectRows(rows, pgx.RowToStructByPos[SharedKey])
		if err != nil {
			return err
		}
		for _, k := range keys {
			sealed, err := change(k)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "UPDATE shared_keys SET sealed = $2 WHERE name = $1", k.Name, sealed); err != nil {
				return err
			}
		}
		n = len(keys)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("%s: seal the shared keys: %w", PostgresName(address), err)
	}
	return n, nil
}
