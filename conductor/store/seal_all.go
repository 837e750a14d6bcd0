package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/seal"
)

// ErrKeys is for a database with values that are sealed with keys which were not given.
var ErrKeys = errors.New("sealed with another key")

// sealing makes sure that every secret in a database is sealed with the ring's first key, and that the file holds
// nothing older. It goes on where an earlier one was killed.
//
// The table sealing names every key that a row may be sealed with, from before its first row until after its last one.
type sealing struct {
	sealer
	db   *sql.DB
	d    dialect
	step func(string) error // is called after each step; its error ends the work
}

// all does all of it. fresh: the database is new.
func (s sealing) all(ctx context.Context, fresh, dropLost bool) error {
	used, err := keysInUse(ctx, s.db)
	if err != nil {
		return fmt.Errorf("read the ids of the keys: %w", err)
	}
	if err := s.lostKeys(ctx, used, dropLost); err != nil || s.ring == nil {
		return err
	}
	current := s.ring.Current()
	if done, begun := used[current]; done && len(used) == 1 {
		return nil
	} else if !begun {
		const begin = "INSERT INTO sealing (key, done) VALUES (?, 0)"
		if _, err := s.db.ExecContext(ctx, s.d.bind(begin), current.String()); err != nil {
			return fmt.Errorf("note the key that seals: %w", err)
		}
	}
	if !fresh {
		if err := s.rows(ctx); err != nil {
			return fmt.Errorf("seal the secrets in the database; the next start continues: %w", err)
		}
		if err := s.d.forget(ctx, s.db, s.step); err != nil {
			return fmt.Errorf("remove the data stored before it was sealed; the next start does it again: %w", err)
		}
	}
	return inTransaction(ctx, s.db, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, s.d.bind("DELETE FROM sealing WHERE key <> ?"), current.String()); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE sealing SET done = 1")
		return err
	})
}

// keysInUse is the table sealing: the keys by id, and whether they are done.
func keysInUse(ctx context.Context, db queries) (used map[seal.ID]bool, err error) {
	rows, err := db.QueryContext(ctx, "SELECT key, done FROM sealing")
	if err != nil {
		return nil, err
	}
	used = map[seal.ID]bool{}
	return used, eachRow(rows, func(rows *sql.Rows) error {
		var text string
		var done bool
		if err := rows.Scan(&text, &done); err != nil {
			return err
		}
		id, err := seal.ParseID(text)
		used[id] = done
		return err
	})
}

// lostKeys refuses a database with values that no key of the ring opens, or drops these
// values.
func (s sealing) lostKeys(ctx context.Context, used map[seal.ID]bool, drop bool) error {
	for id := range used {
		if s.ring != nil && s.ring.Holds(id) {
			continue
		}
		what, err := s.sealedWith(ctx, id)
		if err != nil {
			return fmt.Errorf("count the values that the key %s has sealed: %w", id, err)
		}
		if drop && s.ring != nil {
			err := s.dropSealed(ctx, id)
			if err == nil {
				err = s.step(fmt.Sprintf("drop the data that the lost key %s sealed: %s", id, what))
			}
			if err != nil {
				return fmt.Errorf("drop the values that the lost key %s has sealed: %w", id, err)
			}
			delete(used, id)
			continue
		}
		given := "none"
		if s.ring != nil {
			given = s.ring.Current().String()
		}
		return fmt.Errorf("%w: the key %s sealed %s; the key given is %s", ErrKeys, id, what, given)
	}
	return nil
}

// withKey finds the rows that a key has sealed: its id stands behind the magic number.
func (r resealer) withKey() string { return " WHERE substr(" + r.column + ", 5, 8) = ?" }

// sealedWith counts the rows that a key has sealed: "30 rows of nodes, 2 rows of volume_targets".
func (s sealing) sealedWith(ctx context.Context, id seal.ID) (string, error) {
	var counts []string
	for _, r := range resealers {
		var n int
		count := s.d.bind("SELECT count(*) FROM " + r.table + r.withKey())
		if err := s.db.QueryRowContext(ctx, count, id[:]).Scan(&n); err != nil {
			return "", err
		}
		if n > 0 {
			counts = append(counts, fmt.Sprintf("%d rows of %s", n, r.table))
		}
	}
	if len(counts) == 0 {
		return "no row yet", nil
	}
	return strings.Join(counts, ", "), nil
}

// dropSealed deletes the values that a key has sealed. Hosts' Secrets stay: each one
// shows that it cannot be read.
func (s sealing) dropSealed(ctx context.Context, id seal.ID) error {
	return inTransaction(ctx, s.db, func(tx *sql.Tx) error {
		for _, r := range resealers {
			if r.column != "sealed" {
				continue
			}
			drop := s.d.bind("UPDATE " + r.table + " SET sealed = NULL" + r.withKey())
			if _, err := tx.ExecContext(ctx, drop, id[:]); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, s.d.bind("DELETE FROM sealing WHERE key = ?"), id.String())
		return err
	})
}

// inTransaction runs do in a transaction and commits it, unless do returns an error.
func inTransaction(ctx context.Context, db *sql.DB, do func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", full(err))
	}
	if err := do(tx); err != nil {
		return errors.Join(full(err), tx.Rollback())
	}
	return full(tx.Commit())
}
