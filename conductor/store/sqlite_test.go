package store_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
	"github.com/ferrite-metal/ferrite/conductor/store/storetest"
)

// keyN is a key of this number alone.
func keyN(n byte) []byte { return bytes.Repeat([]byte{n}, seal.KeySize) }

// ringOf is the keys of these numbers; the first one seals.
func ringOf(t testing.TB, numbers ...byte) *seal.Ring {
	t.Helper()
	var keys [][]byte
	for _, n := range numbers {
		keys = append(keys, keyN(n))
	}
	r, err := seal.NewRing(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// open opens the database in dir and closes it when the test ends, if the test
// has not done so. Without keys in the options it has key 1.
func open(t testing.TB, dir string, o store.Options) *store.Database {
	t.Helper()
	if o.Keys == nil {
		o.Keys = ringOf(t, 1)
	}
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

// databases is an empty store in every database.
func databases(t testing.TB) map[string]*store.Database {
	t.Helper()
	return map[string]*store.Database{
		"sqlite":   open(t, t.TempDir(), store.Options{NoSync: true}),
		"postgres": openPostgres(t, postgrestest.URL(t), store.PostgresOptions{}),
	}
}

func TestStore(t *testing.T) {
	storetest.RunDatabase(t, func(t *testing.T) storetest.Database {
		return open(t, t.TempDir(), store.Options{NoSync: true})
	})
}
