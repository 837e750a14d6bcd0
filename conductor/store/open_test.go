package store_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

func TestReopen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a dir? with #odd %41 names")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "ferrite.db")
	n := node.Node{UUID: "11111111-0000-4000-8000-000000000001", Name: "n1"}
	for life := range 2 {
		s, err := store.Open(t.Context(), path, store.Options{Keys: ringOf(t, 1)})
		if err != nil {
			t.Fatal(err)
		}
		if life == 0 {
			if n, err = s.Commit(t.Context(), node.Change{Insert: &n}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := s.Node(t.Context(), "n1")
		if d := cmp.Diff(n, got); err != nil || d != "" {
			t.Errorf("life %d: %v, -want +got:\n%s", life, err, d)
		}
		private(t, dir)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// private checks that other users can read neither the database nor its companions.
func private(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(strings.ReplaceAll(dir, "?", `\?`) + "/*")
	if err != nil || len(files) < 3 {
		t.Fatalf("found %v (%v), want the database, -wal and -shm", files, err)
	}
	for _, f := range files {
		i, err := os.Stat(f)
		if err != nil || i.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v (%v), want 0600", f, i.Mode(), err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	newer := filepath.Join(t.TempDir(), "newer.db")
	s, err := store.Open(t.Context(), newer, store.Options{Keys: ringOf(t, 1)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", newer)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	garbage := filepath.Join(t.TempDir(), "garbage.db")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		newer:   "start the newer build",
		garbage: "not a database",
		filepath.Join(t.TempDir(), "no", "such", "folder.db"): "no such file",
	} {
		_, err := store.Open(t.Context(), path, store.Options{Keys: ringOf(t, 1)})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want the path and %q", path, err, want)
		}
	}
}
