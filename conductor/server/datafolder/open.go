package datafolder

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// Open opens the database. In a new folder it makes all files, in an older one the files that its build did not have
// yet. It ends a rotation of the key that was cut off. sealing is called after each step of sealing, which its error
// ends; it may be nil.
func (d Folder) Open(
	ctx context.Context, log *slog.Logger, sealing func(step string) error,
) (*store.Database, error) {
	if d.Server.URL != "" {
		return d.openServer(ctx, log, sealing)
	}
	if err := d.check(ctx); err != nil {
		return nil, err
	}
	lost := !d.Has(keys.SecretsFile) // the check allows it
	if _, err := store.SchemaVersion(ctx, d.Path(DatabaseFile)); err != nil {
		return nil, err // before a key is made
	}
	if err := d.makeKeys(log); err != nil {
		return nil, fmt.Errorf("--data-dir %s: %w", d.Dir, err)
	}
	ring, err := Ring(d.Dir)
	if err != nil {
		return nil, fmt.Errorf("--data-dir %s: %w", d.Dir, err)
	}
	db, err := store.Open(ctx, d.Path(DatabaseFile),
		store.Options{Keys: ring, DropLost: lost, Sealing: LoggedSealing(log, sealing), Reserve: d.Reserve,
			Room: loggedRoom(log)})
	if err != nil {
		return nil, d.wrongKey(err)
	}
	if err := d.opened(sealing); err != nil {
		return nil, errors.Join(fmt.Errorf("--data-dir %s: %w", d.Dir, err), db.Close())
	}
	return db, nil
}

func loggedRoom(log *slog.Logger) func(error) {
	return func(full error) {
		if full == nil {
			log.Info("there is room on the disk of the database again")
			return
		}
		log.Error("the disk of the database is full: /readyz is 503, and only writes that make room pass", "err", full)
	}
}

// LoggedSealing logs each step of sealing.
func LoggedSealing(log *slog.Logger, sealing func(step string) error) func(step string) error {
	last := ""
	return func(step string) error {
		if step != last { // tables have many rows
			log.Info("the secrets in the database are sealed", "step", step)
		}
		if last = step; sealing != nil {
			return sealing(step)
		}
		return nil
	}
}

// wrongKey adds to a refusal of the key which file it is about.
func (d Folder) wrongKey(err error) error {
	if !errors.Is(err, store.ErrKeys) {
		return err
	}
	return fmt.Errorf("--data-dir %s: the key %s does not open the database: %w. Restore the key of the same backup as "+
		"the database. If it is lost, move %s away and start once with --init: the passwords and tokens in the database "+
		"are dropped, and have to be set again", d.Dir, keys.SecretsFile, err, keys.SecretsFile)
}

// opened notes that the database is open: its WAL is there now, and everything in it is
// sealed with the newest key.
func (d Folder) opened(sealing func(step string) error) error {
	if sealing != nil {
		if err := sealing("seal everything"); err != nil {
			return err
		}
	}
	if err := keys.DropOldSecrets(d.Dir); err != nil {
		return err
	}
	if err := d.complete(); err != nil {
		return err
	}
	return keys.WriteFile(d.Path(RunningFile), nil)
}

// Closing notes that a start no longer needs the WAL. It comes before the database is closed. After a kill in between,
// a WAL is left that the next start does not insist on.
func (d Folder) Closing() error {
	if d.Server.URL != "" {
		return nil
	}
	return os.Remove(d.Path(RunningFile))
}

// complete notes that database and keys are there.
func (d Folder) complete() error {
	if err := os.Remove(d.Path(NewFile)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
