package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/keys"
	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// Files of the data folder.
const (
	databaseFile = "ferrite.db"
	walFile      = databaseFile + "-wal"
	// newFile is there while a new data folder is being made: what is missing then
	// was never made.
	newFile = "initializing"
	// runningFile is there while the database is open. It outlives a kill, after
	// which the WAL must be there, too.
	runningFile = "running"
	// lockFile is locked while a conductor runs.
	lockFile = "lock"
)

// defaultDataDir is where a conductor keeps everything that no flag has it keep elsewhere.
const defaultDataDir = "/var/lib/ferrite"

// dataFolder is the data folder of a conductor that holds its lock.
type dataFolder struct {
	dir    string
	init   bool           // what is missing was lost, and is to be made anew
	server databaseServer // where the database is; the zero value is the folder
	// ended is called when the database is another conductor's from then on; it may be nil.
	ended func(cause error)
}

func (d dataFolder) path(name string) string { return filepath.Join(d.dir, name) }

// has reports whether there is a file with something in it, or a folder with
// something in it.
func (d dataFolder) has(name string) bool {
	info, err := os.Stat(d.path(name))
	if err != nil || !info.IsDir() {
		return err == nil && info.Size() > 0
	}
	entries, err := os.ReadDir(d.path(name))
	return err == nil && len(entries) > 0
}

// check refuses a folder of which something was lost, before anything is made
// in it.
func (d dataFolder) check(ctx context.Context) error {
	if _, err := os.Stat(d.path(newFile)); err == nil {
		return nil // the first start was cut off
	}
	if !d.has(databaseFile) {
		return d.checkEmpty()
	}
	if d.init {
		return nil
	}
	if err := d.checkWAL(); err != nil {
		return err
	}
	return d.checkKeys(ctx)
}

// checkWAL refuses a database that was not closed and has no WAL: that of a killed
// conductor, or one that was copied from under a running conductor by itself.
func (d dataFolder) checkWAL() error {
	if _, err := os.Stat(d.path(runningFile)); err != nil {
		return nil //nolint:nilerr // it was closed
	}
	if _, err := os.Stat(d.path(walFile)); !errors.Is(err, os.ErrNotExist) {
		return nil //nolint:nilerr // SQLite will say what it has against it
	}
	return fmt.Errorf("--data-dir %s: the last conductor was killed, or the folder was copied while it ran, and %s is "+
		"not there, which may hold the newest writes. "+
		"Put it back, or copy the folder again as docs/data-folder.md says. "+
		"If another program has opened the database since, or it was restored from a backup, start once with --init",
		d.dir, walFile)
}

// checkEmpty: a folder without a database is a new one, or one that has lost it.
func (d dataFolder) checkEmpty() error {
	if err := d.lostDatabase(); err != nil {
		return err
	}
	if d.has(walFile) { // SQLite would delete it
		if err := os.Rename(d.path(walFile), d.path(walFile+".lost")); err != nil {
			return err
		}
	}
	return keys.WriteFile(d.path(newFile), nil)
}

// lostDatabase refuses a folder that has something of a conductor's, and no database.
func (d dataFolder) lostDatabase() error {
	var left []string
	for _, name := range []string{walFile, keys.EraseReportFile, keys.SecretsFile, "logs"} {
		if d.has(name) {
			left = append(left, name)
		}
	}
	if len(left) > 0 && !d.init {
		return fmt.Errorf("--data-dir %s: %s is missing or empty, but %s of a conductor is there. Restore the database "+
			"from a backup; "+
			"if the loss is meant, start once with --init: the conductor begins with an empty database", d.dir, databaseFile,
			strings.Join(left, ", "))
	}
	return nil
}

// checkKeys: a database has the keys that its schema came with.
func (d dataFolder) checkKeys(ctx context.Context) error {
	schema, err := store.SchemaVersion(ctx, d.path(databaseFile))
	if err != nil {
		return err
	}
	if missing := d.missingKeys(schema); len(missing) > 0 {
		return missing[0]
	}
	return nil
}

// missingKeys says of each key what its loss means.
func (d dataFolder) missingKeys(schema int64) (missing []error) {
	for _, key := range []struct {
		file, loss string
		since      int64
	}{
		{keys.EraseReportFile, "erase reports are signed with another key from then on", 11},
		{keys.SecretsFile, "the passwords, tokens and Secrets in the database are lost, and have to be set again", 12},
	} {
		if _, err := os.Stat(d.path(key.file)); errors.Is(err, os.ErrNotExist) && schema >= key.since {
			missing = append(missing, fmt.Errorf("--data-dir %s: the key %s is missing. Restore it from a backup; "+
				"if the loss is meant, start once with --init: a new one is made, and %s", d.dir, key.file, key.loss))
		}
	}
	return missing
}

// open opens the database. In a new folder it makes everything, in another one
// what its build did not have yet. It ends a rotation of the key that was cut off.
// sealing is called after each step of sealing, and ends it by an error; it may be nil.
func (d dataFolder) open(
	ctx context.Context, log *slog.Logger, sealing func(step string) error,
) (*store.Database, error) {
	if d.server.url != "" {
		return d.openServer(ctx, log, sealing)
	}
	if err := d.check(ctx); err != nil {
		return nil, err
	}
	lost := !d.has(keys.SecretsFile) // the check allows it
	if _, err := store.SchemaVersion(ctx, d.path(databaseFile)); err != nil {
		return nil, err // before a key is made
	}
	if err := d.makeKeys(log); err != nil {
		return nil, fmt.Errorf("--data-dir %s: %w", d.dir, err)
	}
	ring, err := secretsRing(d.dir)
	if err != nil {
		return nil, fmt.Errorf("--data-dir %s: %w", d.dir, err)
	}
	db, err := store.Open(ctx, d.path(databaseFile),
		store.Options{Keys: ring, DropLost: lost, Sealing: loggedSealing(log, sealing)})
	if err != nil {
		return nil, d.wrongKey(err)
	}
	if err := d.opened(sealing); err != nil {
		return nil, errors.Join(fmt.Errorf("--data-dir %s: %w", d.dir, err), db.Close())
	}
	return db, nil
}

// loggedSealing logs each step of sealing.
func loggedSealing(log *slog.Logger, sealing func(step string) error) func(step string) error {
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

// secretsRing is the keys of a folder that has one.
func secretsRing(dir string) (*seal.Ring, error) {
	all, err := keys.Secrets(dir)
	if err != nil {
		return nil, err
	}
	return seal.NewRing(all...)
}

// wrongKey adds to a refusal of the key which file it is about.
func (d dataFolder) wrongKey(err error) error {
	if !errors.Is(err, store.ErrKeys) {
		return err
	}
	return fmt.Errorf("--data-dir %s: the key %s does not open the database: %w. Restore the key of the same backup as "+
		"the database. If it is lost, move %s away and start once with --init: the passwords and tokens in the database "+
		"are dropped, and have to be set again", d.dir, keys.SecretsFile, err, keys.SecretsFile)
}

// makeKeys makes the keys that are missing. They are there before the database is opened.
func (d dataFolder) makeKeys(log *slog.Logger) error {
	for _, file := range []string{keys.EraseReportFile, keys.SecretsFile} {
		if !d.has(file) {
			log.Info("a key is made; keep it with the backups of the database", "file", d.path(file))
		}
	}
	if _, err := keys.OpenEraseReport(d.dir); err != nil {
		return err
	}
	_, err := keys.OpenSecrets(d.dir)
	return err
}

// opened notes that the database is open: its WAL is there now, and everything in it is
// sealed with the newest key.
func (d dataFolder) opened(sealing func(step string) error) error {
	if sealing != nil {
		if err := sealing("seal everything"); err != nil {
			return err
		}
	}
	if err := keys.DropOldSecrets(d.dir); err != nil {
		return err
	}
	if err := d.complete(); err != nil {
		return err
	}
	return keys.WriteFile(d.path(runningFile), nil)
}

// closing notes that nothing is lost with the WAL any more. It comes before the
// database is closed: a kill in between leaves a WAL that nobody asks for.
func (d dataFolder) closing() error {
	if d.server.url != "" {
		return nil
	}
	return os.Remove(d.path(runningFile))
}

// complete notes that database and keys are there.
func (d dataFolder) complete() error {
	if err := os.Remove(d.path(newFile)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
