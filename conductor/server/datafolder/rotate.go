package datafolder

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// Rotation is one change of the key that seals secrets.
type Rotation struct {
	Folder
	Log *slog.Logger
	// Step is called after each step; its error ends the rotation there, as a kill would. It may be nil.
	Step func(step string) error
}

// Rotated is the result of a rotation.
type Rotated struct {
	Key, Deleted seal.ID
	Finished     bool // one before it that was cut off
}

// Run makes a new key, seals everything with it, and deletes the old one. A rotation that is killed is finished by the
// next one, or by the start of a conductor.
func (r Rotation) Run(ctx context.Context) (done Rotated, err error) {
	if r.Server.URL == "" {
		if err := r.CheckUsed(); err != nil {
			return done, err
		}
	}
	unlock, err := Lock(r.Dir)
	if err != nil {
		return done, fmt.Errorf("%w: stop it first", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if _, err := os.Stat(r.Path(NewFile)); err == nil {
		return done, fmt.Errorf("--data-dir %s: the first start of its conductor was cut off: start the conductor once",
			r.Dir)
	}
	if err := r.notShared(ctx); err != nil {
		return done, err
	}
	before, err := r.secrets()
	if err != nil {
		return done, err
	}
	// With the keys as they are: it refuses a key of another database before one is added,
	// and finishes a rotation that was cut off.
	if err := r.reseal(ctx); err != nil {
		return done, err
	}
	if len(before) == 1 {
		if err := r.addKey(ctx); err != nil {
			return done, err
		}
	}
	now, err := r.secrets()
	if err != nil {
		return done, err
	}
	return Rotated{Key: seal.IDOf(now[0]), Deleted: seal.IDOf(before[len(before)-1]), Finished: len(before) > 1}, nil
}

// secrets are the keys of the folder, newest first.
func (r Rotation) secrets() ([][]byte, error) {
	all, err := keys.Secrets(r.Dir)
	if err != nil {
		return nil, fmt.Errorf("--data-dir %s: %w", r.Dir, err)
	}
	return all, nil
}

// addKey makes a key, and seals everything with it.
func (r Rotation) addKey(ctx context.Context) error {
	if err := keys.AddSecrets(r.Dir); err != nil {
		return fmt.Errorf("--data-dir %s: %w", r.Dir, err)
	}
	if r.Step != nil {
		if err := r.Step("add a key"); err != nil {
			return err
		}
	}
	return r.reseal(ctx)
}

// notShared refuses a database of a cluster that shares its key: the cluster's conductors would go on sealing with
// another key.
func (r Rotation) notShared(ctx context.Context) error {
	if r.Server.URL == "" {
		return nil
	}
	shared, err := store.HasCluster(ctx, r.Server.URL, store.PostgresOptions{Password: r.Server.Password})
	if err == nil && shared {
		err = fmt.Errorf("%s: the conductors of a cluster share its key: expected a database of a single conductor; "+
			"see docs/operate/cluster-key.md", store.PostgresName(r.Server.URL))
	}
	return err
}

// reseal seals everything with the newest key, and leaves only that one.
func (r Rotation) reseal(ctx context.Context) error {
	db, err := r.Open(ctx, r.Log, r.Step)
	if err != nil {
		return err
	}
	if err := errors.Join(r.Closing(), db.Close()); err != nil {
		return fmt.Errorf("--data-dir %s: %w", r.Dir, err)
	}
	return nil
}
