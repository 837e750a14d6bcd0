package serve

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
)

// contents is every file of a folder but those that a refused start may touch.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == "lock" || strings.HasSuffix(path, "-shm") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		all[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestLoss: of a data folder that has lost something nothing is deleted and
// nothing made anew, unless the loss is meant.
func TestLoss(t *testing.T) {
	archive := filepath.Join(recordings, "fba4d11.tar.gz")
	empty := func(path string) error { return os.WriteFile(path, nil, 0o600) }
	for name, c := range map[string]struct {
		lose func(path string) error
		file string
		want string
		init bool // --init starts it
	}{
		"no database": {
			os.Remove, datafolder.DatabaseFile,
			"ferrite.db is missing or empty, but ferrite.db-wal, erase-key.pem, secrets-key.pem, logs", true,
		},
		"empty database":    {empty, datafolder.DatabaseFile, "ferrite.db is missing or empty, but ferrite.db-wal", true},
		"no erase key":      {os.Remove, keys.EraseReportFile, "erase-key.pem is missing", true},
		"no secrets key":    {os.Remove, keys.SecretsFile, "secrets-key.pem is missing", true},
		"no WAL after kill": {os.Remove, datafolder.WALFile, "ferrite.db-wal is not there", true},
		"database cut": {
			func(path string) error { return os.Truncate(path, 40_960) }, datafolder.DatabaseFile, "cut short", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := unpackRecorded(t, archive)
			if err := os.WriteFile(filepath.Join(dir, datafolder.RunningFile), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := c.lose(filepath.Join(dir, c.file)); err != nil {
				t.Fatal(err)
			}
			before := contents(t, dir)
			if _, err := command(t.Context(), "--data-dir", dir, "--api-address", servetest.AnyPort); err == nil ||
				!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "--init") {
				t.Errorf("it ended with %v, want %q", err, c.want)
			}
			if d := cmp.Diff(before, contents(t, dir)); d != "" {
				t.Errorf("the folder was changed: %.2000s", d)
			}
			if c.init {
				conductor := start(t, dir, "--init")
				conductor.End(t)
				start(t, dir).End(t)
			}
		})
	}
}

// TestFirstStart: the next start completes a first start that was cut off.
func TestFirstStart(t *testing.T) {
	dir := t.TempDir()
	start(t, dir).End(t)
	for name := range contents(t, dir) {
		if name == datafolder.NewFile || name == datafolder.RunningFile {
			t.Errorf("%s is left", name)
		}
	}
	if err := os.Remove(filepath.Join(dir, keys.SecretsFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, datafolder.NewFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, dir).End(t)
	start(t, dir).End(t)
}
