package store_test

import (
	"errors"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// TestNUL: a NUL in a text that is looked for is a byte like others. It ended
// the statement, and an allocation that had one was looked for in vain for ever.
func TestNUL(t *testing.T) {
	for name, s := range databases(t) {
		t.Run(name, func(t *testing.T) { checkNUL(t, s) })
	}
}

func checkNUL(t *testing.T, s *store.Database) {
	t.Helper()
	n := node.Node{UUID: uuidN(1), ResourceClass: "a\x00'b", Shard: "\x00\x01", LastError: "\x00"}
	if _, err := s.Commit(t.Context(), node.Change{Insert: &n}); err != nil {
		t.Fatal(err)
	}
	for class, want := range map[string]int{"a\x00'b": 1, "a": 0, "a\x00": 0} {
		got, err := s.Nodes(t.Context(), node.Query{Equal: map[string]string{"resource_class": class}})
		if err != nil || len(got) != want {
			t.Errorf("of class %q: %d nodes, %v, want %d", class, len(got), err, want)
		}
	}
	if got, err := s.Shards(t.Context()); err != nil || len(got) != 1 || got[0].Name != n.Shard {
		t.Errorf("shards: %v, %v", got, err)
	}
	if got, err := s.Nodes(t.Context(), node.Query{SortKey: "last_error"}); err != nil || len(got) != 1 ||
		got[0].LastError != "\x00" {
		t.Errorf("sorted by an error: %v, %v", got, err)
	}
	if _, err := s.Catalogs().EraseReports.Find(t.Context(), "\x00"); !errors.Is(err, node.ErrNotFound) {
		t.Errorf("a report named NUL: %v, want %v", err, node.ErrNotFound)
	}
}
