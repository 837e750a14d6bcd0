//go:build !nooperate

package serve

import (
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
)

// TestNewerSchema: the data folder of a newer build is refused in words that say so, and stays as it is: by a start, by
// a check, and by a restore of its backup.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	dir := recordedDataFolder(t)
	path := filepath.Join(dir, datafolder.DatabaseFile)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)")
	_, walErr := db.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)")
	if err := errors.Join(err, walErr, db.Close()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(by string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "9999") {
			t.Errorf("%s: %v, expected the version that this build does not know", by, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("%s has changed the database, %v", by, err)
		}
	}
	_, err = datafolder.Folder{Dir: dir}.Open(t.Context(), slog.New(slog.DiscardHandler), nil)
	refused("a start", err)

	file, phrase := filepath.Join(t.TempDir(), "ferrite.backup"), passphraseFile(t, testPassphrase)
	if said, err := saving(t, quickBackup(), file, "--data-dir", dir, "--passphrase-file", phrase); err != nil {
		t.Fatal(said, err)
	}
	to := t.TempDir()
	_, err = saving(t, RestoreCommand(), file, "--data-dir", to, "--passphrase-file", phrase)
	refused("a restore", err)
	if left, err := os.ReadDir(to); err != nil || len(left) != 1 || left[0].Name() != "lock" {
		t.Errorf("left of the restore: %v, %v", left, err)
	}
}
