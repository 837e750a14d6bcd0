package datafolder

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
)

var quiet = slog.New(slog.DiscardHandler)

// used opens a folder, and closes it as a conductor does that ends in order.
func used(t *testing.T, d Folder) {
	t.Helper()
	db, err := d.Open(t.Context(), quiet, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !d.Has(DatabaseFile) || !d.Has(keys.SecretsFile) || !d.Has(keys.EraseReportFile) {
		t.Errorf("%s lacks the database or a key", d.Dir)
	}
	if _, err := os.Stat(d.Path(RunningFile)); err != nil {
		t.Error(err)
	}
	if err := errors.Join(d.Closing(), db.Close()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{RunningFile, NewFile} {
		if _, err := os.Stat(d.Path(name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
}

// TestOpen: a folder that has lost a file is refused, and nothing is made in it. With Init the missing file is made.
func TestOpen(t *testing.T) {
	for name, c := range map[string]struct {
		lost    string // this file
		running bool   // the conductor was killed
		want    string
	}{
		"nothing":           {"", false, ""},
		"the database":      {DatabaseFile, false, "ferrite.db is missing or empty, but erase-key.pem, secrets-key.pem"},
		"the erase key":     {keys.EraseReportFile, false, "the key erase-key.pem is missing"},
		"the secrets key":   {keys.SecretsFile, false, "the key secrets-key.pem is missing"},
		"the WAL of a kill": {WALFile, true, "ferrite.db-wal is not there"},
	} {
		t.Run(name, func(t *testing.T) {
			d := Folder{Dir: t.TempDir()}
			used(t, d)
			if c.running {
				if err := os.WriteFile(d.Path(RunningFile), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Remove(d.Path(c.lost)); c.lost != "" && err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			if c.want != "" {
				if _, err := d.Open(t.Context(), quiet, nil); err == nil || !strings.Contains(err.Error(), c.want) ||
					!strings.Contains(err.Error(), "--init") {
					t.Errorf("opened, with %v, want %q", err, c.want)
				}
				if d.Has(c.lost) {
					t.Errorf("%s was made anew", c.lost)
				}
				d.Init = true
			}
			used(t, d)
		})
	}
}

// TestCopySides: a folder to copy from has database and keys, one to copy to has the keys alone.
func TestCopySides(t *testing.T) {
	full, bare := Folder{Dir: t.TempDir()}, Folder{Dir: t.TempDir()}
	used(t, full)
	if err := full.CheckSource(); err != nil {
		t.Error(err)
	}
	if err := full.CheckTarget(); err == nil || !strings.Contains(err.Error(), "expected no database") {
		t.Errorf("a folder with a database is a target: %v", err)
	}
	if err := bare.CheckSource(); err == nil || !strings.Contains(err.Error(), "there is no ferrite.db") {
		t.Errorf("an empty folder is a source: %v", err)
	}
	if err := bare.CheckTarget(); err == nil || !strings.Contains(err.Error(), "expected the key") {
		t.Errorf("a folder without keys is a target: %v", err)
	}
	if _, err := OpenKeys(bare.Dir); err != nil {
		t.Fatal(err)
	}
	if err := bare.CheckTarget(); err != nil {
		t.Error(err)
	}
}

// TestLocks: one conductor has a folder, or several programs read it.
func TestLocks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	open, err := LockToRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a reader has made the folder: %v", err)
	}
	unlock, err := Lock(dir)
	if err := errors.Join(err, open()); err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir); err == nil || !strings.Contains(err.Error(), "in use by another conductor") {
		t.Errorf("a second conductor has it: %v", err)
	}
	if _, err := LockToRead(dir); err == nil || !strings.Contains(err.Error(), "a conductor is running in it") {
		t.Errorf("it is read under a conductor: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		unlock, err := LockToRead(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = unlock() }()
	}
	if _, err := Lock(dir); err == nil {
		t.Error("a conductor has a folder that is read")
	}
}
