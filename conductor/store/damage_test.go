package store_test

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// killed makes a database of some hundred pages, and the files that a killed
// conductor leaves of it.
func killed(t *testing.T) (db, wal []byte) {
	t.Helper()
	dir := t.TempDir()
	insert := func(s *store.Database, from, to int) {
		for i := from; i < to; i++ {
			n := big(i, strings.Repeat("x", 20_000))
			if _, err := s.Commit(t.Context(), node.Change{Insert: &n}); err != nil {
				t.Fatal(err)
			}
		}
	}
	path := filepath.Join(dir, "ferrite.db")
	s, err := store.Open(t.Context(), path, store.Options{NoSync: true, Keys: ringOf(t, 1)})
	if err != nil {
		t.Fatal(err)
	}
	insert(s, 0, 20)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, store.Options{NoSync: true})
	insert(s, 20, 25)
	var errs [2]error
	db, errs[0] = os.ReadFile(path)
	wal, errs[1] = os.ReadFile(path + "-wal")
	if err := errors.Join(errs[:]...); err != nil || len(db) == 0 || len(wal) == 0 {
		t.Fatal(len(db), len(wal), err)
	}
	return db, wal
}

// foreign is the file of another program.
func foreign(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "other.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "CREATE TABLE x (y)")
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestDamaged: a file that is not one of our databases, or not all of it, is refused and stays as it is.
func TestDamaged(t *testing.T) {
	db, wal := killed(t)
	for name, c := range map[string]struct {
		db, wal []byte // nil: missing
		want    string // "" when it opens
	}{
		"whole":                 {db, wal, ""},
		"whole, no WAL":         {db, nil, ""},
		"missing beside a WAL":  {nil, wal, "it is missing, but"},
		"empty beside a WAL":    {[]byte{}, wal, "it is empty, but"},
		"cut in half":           {db[:len(db)/2], nil, "cut short"},
		"cut in half, with WAL": {db[:len(db)/2], wal, "cut short"},
		"cut within a page":     {db[:len(db)-100], wal, "cut short"},
		"cut within the header": {db[:50], wal, "not a database"},
		"text":                  {[]byte(strings.Repeat("text ", 100)), nil, "not a database"},
		"another program's":     {foreign(t), nil, `another program's: it has the tables ["x"]`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ferrite.db")
			files := map[string][]byte{path: c.db, path + "-wal": c.wal}
			for at, text := range files {
				if text == nil {
					continue
				}
				if err := os.WriteFile(at, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s, err := store.Open(t.Context(), path, store.Options{NoSync: true, Keys: ringOf(t, 1)})
			if err == nil {
				err = s.Close()
			}
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			for at, text := range files {
				if now, err := os.ReadFile(at); !bytes.Equal(now, text) || (err != nil) != (text == nil) {
					t.Errorf("%s was changed: %d bytes, %v", at, len(now), err)
				}
			}
		})
	}
}

// TestCheckpointCutOff: a file with the first pages of a checkpoint and without the
// others, as a kill or a full disk leaves it, is whole with its WAL.
func TestCheckpointCutOff(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ferrite.db")
	read := func(path string) []byte {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	s := open(t, dir, store.Options{NoSync: true})
	const nodes = 20
	for i := range nodes {
		n := big(i, strings.Repeat("x", 2000))
		if _, err := s.Commit(t.Context(), node.Change{Insert: &n}); err != nil {
			t.Fatal(err)
		}
	}
	wal := read(path + "-wal")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	after := read(path)
	const page = 4096
	for _, pages := range []int{1, 2, 10, len(after) / page} {
		if err := os.WriteFile(path, after[:pages*page], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+"-wal", wal, 0o600); err != nil {
			t.Fatal(err)
		}
		again, err := store.Open(t.Context(), path, store.Options{Keys: ringOf(t, 1)})
		if err != nil {
			t.Fatalf("with %d pages: %v", pages, err)
		}
		all, err := again.Nodes(t.Context(), node.Query{})
		if err = errors.Join(err, again.Close()); err != nil || len(all) != nodes {
			t.Errorf("with %d pages: %d nodes, %v; want %d", pages, len(all), err, nodes)
		}
	}
}
