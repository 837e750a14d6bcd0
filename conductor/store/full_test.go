package store_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// TestFull fills the database. Writes that do not fit are refused with ErrFull while smaller ones succeed, and after
// making room writes succeed again.
func TestFull(t *testing.T) {
	s := open(t, t.TempDir(), store.Options{NoSync: true, MaxPages: 120})
	blob := strings.Repeat("x", 20_000)
	kept := 0
	var err error
	for ; err == nil && kept < 100; kept++ {
		n := big(kept, blob)
		_, err = s.Commit(t.Context(), node.Change{Insert: &n})
	}
	kept--
	if !errors.Is(err, store.ErrFull) || kept == 0 {
		t.Fatalf("after %d nodes: got %v, want %v", kept, err, store.ErrFull)
	}
	// Large and small changes share transactions: only the large ones fail.
	var wg sync.WaitGroup
	var large, small [8]error
	for i := range large {
		wg.Go(func() {
			n := big(200+i, blob)
			_, large[i] = s.Commit(t.Context(), node.Change{Insert: &n})
		})
		wg.Go(func() {
			small[i] = s.SaveLease(t.Context(), node.Lease{MAC: fmt.Sprint(i), IP: fmt.Sprint(i)})
		})
	}
	wg.Wait()
	for i := range large {
		if !errors.Is(large[i], store.ErrFull) || small[i] != nil {
			t.Errorf("large %d: got %v, want %v; small: got %v, want none", i, large[i], store.ErrFull, small[i])
		}
	}
	all, err := s.Nodes(t.Context(), node.Query{})
	if err != nil || len(all) != kept {
		t.Fatalf("%d nodes are left (%v), want %d", len(all), err, kept)
	}
	if _, err := s.Commit(t.Context(), node.Change{Delete: all[0].UUID}); err != nil {
		t.Fatalf("make room: %v", err)
	}
	n := big(300, blob)
	if _, err := s.Commit(t.Context(), node.Change{Insert: &n}); err != nil {
		t.Errorf("after making room: %v", err)
	}
}

func big(i int, blob string) node.Node {
	return node.Node{UUID: fmt.Sprintf("11111111-0000-4000-8000-%012d", i), Description: "big",
		Extra: map[string]any{"blob": blob}}
}

// TestPostgresFull: a server without room makes a conductor not ready.
func TestPostgresFull(t *testing.T) {
	address := postgrestest.URL(t)
	s := openPostgres(t, address, store.PostgresOptions{})
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	_, err = conn.Exec(t.Context(), `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
		CREATE TRIGGER no_room BEFORE INSERT ON nodes EXECUTE FUNCTION no_room()`)
	n := big(1, "")
	if err = errors.Join(err, s.Ready()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), node.Change{Insert: &n}); !errors.Is(err, store.ErrFull) {
		t.Errorf("a write answers %v", err)
	}
	if err := s.Ready(); !errors.Is(err, store.ErrFull) {
		t.Errorf("it is ready: %v", err)
	}
}
