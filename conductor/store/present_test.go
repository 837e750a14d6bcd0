package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// TestRemovedWhileOpen: nothing is acknowledged that goes into files which the next
// start will not find.
func TestRemovedWhileOpen(t *testing.T) {
	for name, away := range map[string]func(dir, to string) error{
		"the folder": func(dir, to string) error { return os.Rename(dir, to) },
		"the database": func(dir, to string) error {
			return os.Rename(filepath.Join(dir, "ferrite.db"), to)
		},
		"its WAL": func(dir, to string) error {
			return os.Rename(filepath.Join(dir, "ferrite.db-wal"), to)
		},
		"replaced": func(dir, to string) error {
			path := filepath.Join(dir, "ferrite.db")
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return errors.Join(os.Rename(path, to), os.WriteFile(path, data, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			dir := filepath.Join(top, "data")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			s, err := store.Open(t.Context(), filepath.Join(dir, "ferrite.db"), store.Options{Keys: ringOf(t, 1)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() }) // its files may be gone
			insert := func(uuid string) error {
				_, err := s.Commit(t.Context(), node.Change{Insert: &node.Node{UUID: uuid}})
				return err
			}
			if err := insert("11111111-0000-4000-8000-000000000001"); err != nil {
				t.Fatal(err)
			}
			if err := away(dir, filepath.Join(top, "away")); err != nil {
				t.Fatal(err)
			}
			if err := insert("11111111-0000-4000-8000-000000000002"); !errors.Is(err, store.ErrGone) {
				t.Errorf("a write answers %v, want %v", err, store.ErrGone)
			}
		})
	}
}
