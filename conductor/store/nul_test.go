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
	s := open(t, t.TempDir(), store.Options{NoSync: true})
	n := node.Node{UUID: uuidN(1), ResourceClass: "a\x00'b"}
	if _, err := s.Commit(t.Context(), node.Change{Insert: &n}); err != nil {
		t.Fatal(err)
	}
	for class, want := range map[string]int{"a\x00'b": 1, "a": 0, "a\x00": 0} {
		if got, err := s.Nodes(t.Context(), node.Query{ResourceClass: class}); err != nil || len(got) != want {
			t.Errorf("of class %q: %d nodes, %v, want %d", class, len(got), err, want)
		}
	}
	if _, err := s.Catalogs().EraseReports.Find(t.Context(), "\x00"); !errors.Is(err, node.ErrNotFound) {
		t.Errorf("a report named NUL: %v, want %v", err, node.ErrNotFound)
	}
}
