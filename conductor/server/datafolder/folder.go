// Package datafolder is the data folder of a conductor: its files, the lock that keeps a second conductor out, which of
// the files must be there, and how its database is opened with its keys, in the folder or on a server. It refuses a
// folder that has lost something before anything is made in it. It examines a database (Examine), and gives it a new
// key (Rotation).
//
// It knows no settings. Errors name flags of ferrite serve, since operators read them.
package datafolder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// Files of the data folder.
const (
	DatabaseFile = "ferrite.db"
	WALFile      = DatabaseFile + "-wal"
	// NewFile exists while a new data folder is being made: a missing file then was never made.
	NewFile = "initializing"
	// RestoringFile exists while a backup is being restored: the folder's files then have an old state.
	RestoringFile = "restoring"
	// RunningFile is there while the database is open. It outlives a kill, after
	// which the WAL must be there, too.
	RunningFile = "running"
	// LockFile is locked while a conductor runs. It stays: a lock of a new file of its name would be another one.
	LockFile = "lock"
)

// Default is where a conductor keeps everything that no flag has it keep elsewhere.
const Default = "/var/lib/ferrite"

// Folder is the data folder of a conductor that holds its lock.
type Folder struct {
	Dir    string
	Init   bool   // missing files were lost, and are to be made anew
	Server Server // where the database is; the zero value is the folder
	// Reserve is the room in bytes that is kept for writes that free room on a full disk; 0 for none. A server keeps
	// none.
	Reserve int64
	// Ended is called when the database is another conductor's from then on; it may be nil.
	Ended func(cause error)
}

// Path is the path of a file of the folder.
func (d Folder) Path(name string) string { return filepath.Join(d.Dir, name) }

// Has reports whether there is a file with something in it, or a folder with
// something in it.
func (d Folder) Has(name string) bool {
	info, err := os.Stat(d.Path(name))
	if err != nil || !info.IsDir() {
		return err == nil && info.Size() > 0
	}
	entries, err := os.ReadDir(d.Path(name))
	return err == nil && len(entries) > 0
}

// check refuses a folder of which something was lost, before anything is made
// in it.
func (d Folder) check(ctx context.Context) error {
	if _, err := os.Stat(d.Path(NewFile)); err == nil {
		return nil // the first start was cut off
	}
	if !d.Has(DatabaseFile) {
		return d.checkEmpty()
	}
	if d.Init {
		return nil
	}
	if err := d.CheckWAL(); err != nil {
		return err
	}
	return d.checkKeys(ctx)
}

// CheckWAL refuses a database that was not closed and has no WAL. Its conductor was killed, or the file was copied
// alone from under a running conductor.
func (d Folder) CheckWAL() error {
	if _, err := os.Stat(d.Path(RunningFile)); err != nil {
		return nil //nolint:nilerr // it was closed
	}
	if _, err := os.Stat(d.Path(WALFile)); !errors.Is(err, os.ErrNotExist) {
		return nil //nolint:nilerr // SQLite will say what it has against it
	}
	return fmt.Errorf("--data-dir %s: the last conductor was killed, or the folder was copied while it ran, and %s is "+
		"not there, which may hold the newest writes. "+
		"Put it back, or copy the folder again as docs/data-folder.md says. "+
		"If another program has opened the database since, or it was restored from a backup, start once with --init",
		d.Dir, WALFile)
}

// checkEmpty checks a folder without a database. It may be a new folder, or a folder that lost its database.
func (d Folder) checkEmpty() error {
	if err := d.LostDatabase(); err != nil {
		return err
	}
	if d.Has(WALFile) { // SQLite would delete it
		if err := os.Rename(d.Path(WALFile), d.Path(WALFile+".lost")); err != nil {
			return err
		}
	}
	return keys.WriteFile(d.Path(NewFile), nil)
}

// LostDatabase refuses a folder that has something of a conductor's, and no database.
func (d Folder) LostDatabase() error {
	var left []string
	for _, name := range []string{WALFile, keys.EraseReportFile, keys.SecretsFile, "logs"} {
		if d.Has(name) {
			left = append(left, name)
		}
	}
	if len(left) > 0 && !d.Init {
		return fmt.Errorf("--data-dir %s: %s is missing or empty, but %s of a conductor is there. Restore the database "+
			"from a backup; "+
			"if the loss is meant, start once with --init: the conductor begins with an empty database", d.Dir, DatabaseFile,
			strings.Join(left, ", "))
	}
	return nil
}

// CheckUsed refuses a folder without a database.
func (d Folder) CheckUsed() error {
	if d.Has(DatabaseFile) {
		return nil
	}
	if err := d.LostDatabase(); err != nil {
		return err
	}
	return fmt.Errorf("--data-dir %s: there is no database in it, and nothing else of a conductor: name the folder "+
		"that ferrite serve is given", d.Dir)
}

// checkKeys: a database has the keys that its schema came with.
func (d Folder) checkKeys(ctx context.Context) error {
	schema, err := store.SchemaVersion(ctx, d.Path(DatabaseFile))
	if err != nil {
		return err
	}
	if missing := d.MissingKeys(schema); len(missing) > 0 {
		return missing[0]
	}
	return nil
}

// MissingKeys has an error for each missing key, with the consequence of its loss.
func (d Folder) MissingKeys(schema int64) (missing []error) {
	for _, key := range []struct {
		file, loss string
		since      int64
	}{
		{keys.EraseReportFile, "erase reports are signed with another key from then on", 11},
		{keys.SecretsFile, "the passwords, tokens and Secrets in the database are lost, and have to be set again", 12},
	} {
		if _, err := os.Stat(d.Path(key.file)); errors.Is(err, os.ErrNotExist) && schema >= key.since {
			missing = append(missing, fmt.Errorf("--data-dir %s: the key %s is missing. Restore it from a backup; "+
				"if the loss is meant, start once with --init: a new one is made, and %s", d.Dir, key.file, key.loss))
		}
	}
	return missing
}

// CheckSource refuses a folder that lacks something of its conductor's, to copy its database from.
func (d Folder) CheckSource() error {
	if !d.Has(DatabaseFile) {
		return fmt.Errorf("%s: there is no %s in it: name the folder that ferrite serve is given", d.Dir, DatabaseFile)
	}
	if err := d.CheckWAL(); err != nil {
		return err
	}
	return errors.Join(d.MissingKeys(NewestKey)...)
}

// CheckTarget refuses a folder as the target of a copy if it has a database, or lacks a key.
func (d Folder) CheckTarget() error {
	for _, name := range []string{DatabaseFile, WALFile, NewFile} {
		if _, err := os.Stat(d.Path(name)); err == nil {
			return fmt.Errorf("%s: expected no database in it, found %s: move it away, or name another folder", d.Dir, name)
		}
	}
	for _, name := range []string{keys.SecretsFile, keys.EraseReportFile} {
		if !d.Has(name) {
			return fmt.Errorf("%s: expected the key %s in it, found none: copy %s and %s from the data folder of the "+
				"conductor that used the database, and logs, if you keep them", d.Dir, name, keys.SecretsFile,
				keys.EraseReportFile)
		}
	}
	return nil
}
