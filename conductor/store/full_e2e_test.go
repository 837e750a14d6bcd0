//go:build e2e

package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// TestE2EFullDisk is TestFull on a file system that really is full. It needs root,
// to mount one.
func TestE2EFullDisk(t *testing.T) {
	dir := small(t, "size=2m")
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 500_000), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, store.Options{})
	blob := strings.Repeat("x", 20_000)
	kept := 0
	var err error
	for ; err == nil && kept < 500; kept++ {
		n := big(kept, blob)
		_, err = s.Commit(t.Context(), node.Change{Insert: &n})
	}
	kept--
	if !errors.Is(err, store.ErrFull) || kept == 0 {
		t.Fatalf("after %d nodes: got %v, want %v", kept, err, store.ErrFull)
	}
	t.Logf("%d nodes, then: %v", kept, err)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	n := big(kept, blob)
	if _, err := s.Commit(t.Context(), node.Change{Insert: &n}); err != nil {
		t.Errorf("after making room: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, dir, store.Options{})
	all, err := again.Nodes(t.Context(), node.Query{})
	if err != nil || len(all) != kept+1 {
		t.Errorf("%d nodes are left (%v), want %d", len(all), err, kept+1)
	}
	if err := again.Close(); err != nil { // before the unmount
		t.Fatal(err)
	}
}
