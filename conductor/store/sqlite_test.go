package store_test

import (
	"path/filepath"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/storetest"
)

// open opens the database in dir and closes it when the test ends, if the test
// has not done so.
func open(t testing.TB, dir string, o store.Options) *store.SQLite {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(dir, "ferrite.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, t.TempDir(), store.Options{NoSync: true}) })
}
