package store_test

import (
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
	"github.com/ferrite-metal/ferrite/conductor/store/storetest"
)

// openPostgres opens the database of an address, and closes it when the test ends. Without keys
// in the options it has key 1.
func openPostgres(t testing.TB, address string, o store.PostgresOptions) *store.Database {
	t.Helper()
	if o.Keys == nil {
		o.Keys = ringOf(t, 1)
	}
	s, err := store.OpenPostgres(t.Context(), address, o)
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

func TestStoreOnPostgres(t *testing.T) {
	storetest.RunDatabase(t, func(t *testing.T) storetest.Database {
		return openPostgres(t, postgrestest.URL(t), store.PostgresOptions{})
	})
}
