package store_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// TestUnreadableRows: of a list that has rows which cannot be decoded the others are
// answered, with the UUIDs of those that are missing and where to read on.
func TestUnreadableRows(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(t.Context(), filepath.Join(dir, "ferrite.db"), store.Options{NoSync: true, Keys: ringOf(t, 1)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		n := node.Node{UUID: uuidN(i)}
		if _, err := s.Commit(t.Context(), node.Change{Insert: &n}); err != nil {
			t.Fatal(err)
		}
		a := node.Allocation{Record: node.Record{UUID: uuidN(i)}, State: node.Allocating}
		if _, err := s.Catalogs().Allocations.Insert(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "ferrite.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"nodes", "allocations"} {
		if _, err := db.ExecContext(t.Context(), "UPDATE "+table+" SET doc = '{' WHERE uuid IN (?, ?)", uuidN(1),
			uuidN(3)); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, store.Options{NoSync: true})
	check := func(what string, uuids []string, err error, want []string, last string, missing ...string) {
		t.Helper()
		var bad *node.UnreadableError
		if !errors.As(err, &bad) || !slices.Equal(bad.UUIDs, missing) || bad.Last != last || !slices.Equal(uuids, want) {
			t.Errorf("%s: %v and %v, want %v, without %v, up to %s", what, uuids, err, want, missing, last)
		}
	}
	nodes := func(q node.Query) (uuids []string, err error) {
		all, err := s.Nodes(t.Context(), q)
		for _, n := range all {
			uuids = append(uuids, n.UUID)
		}
		return uuids, err
	}
	got, err := nodes(node.Query{})
	check("nodes", got, err, []string{uuidN(0), uuidN(2)}, uuidN(3), uuidN(1), uuidN(3))
	got, err = nodes(node.Query{Limit: 2})
	check("the first page", got, err, []string{uuidN(0)}, uuidN(1), uuidN(1))
	got, err = nodes(node.Query{Limit: 2, Marker: uuidN(1)})
	check("the second page", got, err, []string{uuidN(2)}, uuidN(3), uuidN(3))
	all, err := s.Catalogs().Allocations.List(t.Context(), "state", string(node.Allocating))
	got = nil
	for _, a := range all {
		got = append(got, a.UUID)
	}
	check("allocations", got, err, []string{uuidN(0), uuidN(2)}, uuidN(3), uuidN(1), uuidN(3))
}
