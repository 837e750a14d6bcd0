package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/largesite"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// furnished is a file with rows of most tables, and texts that databases have trouble with.
func furnished(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ferrite.db")
	s, err := store.Open(t.Context(), file, store.Options{NoSync: true, Keys: ringOf(t, 1)})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for i := range 5 {
		n := node.Node{
			UUID: uuidN(i), Name: "n\x00\x01\x02" + string(rune('a'+i)), Description: "Größe \U0001F5A5 \\u0000",
			CreatedAt:  at,
			DriverInfo: map[string]any{"redfish_password": "planted-word", "redfish_address": "10.0.0." + string(rune('1'+i))},
			Retired:    i%2 == 0, Deadline: at.Add(time.Duration(i) * time.Hour),
		}
		_, err := s.Commit(t.Context(), node.Change{
			Insert: &n, Effects: []node.Effect{{Node: n.UUID, Generation: 1, Name: "x", Args: []byte(`{"a":1}`), RunAt: at}},
			AddPorts: []node.Port{{UUID: uuidN(20 + i), NodeUUID: n.UUID, Address: "52:54:00:00:00:0" + string(rune('0'+i))}},
			History:  []node.HistoryEntry{{UUID: uuidN(40 + i), NodeUUID: n.UUID, Event: "born\x00"}},
		})
		if err == nil {
			err = s.SaveLease(t.Context(), node.Lease{MAC: "52:54:00:00:00:0" + string(rune('0'+i)), IP: "10.0.0.9",
				Subnet: string(rune('a' + i)), Static: i == 1})
		}
		if err == nil {
			err = s.WriteObjects(t.Context(), []objects.Write{{Row: objects.Row{
				Key: objects.Key{Kind: "Secret", Name: uuidN(i)}, UID: uuidN(60 + i), Doc: []byte("{\x00\xff"),
			}}}, func([]int64) {})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	// The newest ids are not there any more. They are not given again.
	_, err = s.Commit(t.Context(), node.Change{Delete: uuidN(4)})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	return file
}

func copyOf(t *testing.T, from, to store.Place) []store.Copied {
	t.Helper()
	all, err := store.Copy(t.Context(), from, to, store.CopyOptions{Keys: ringOf(t, 1)})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestCopy: from a file to a server, to another server, and back, everything is the same.
func TestCopy(t *testing.T) {
	file := store.Place{File: furnished(t)}
	first, second := store.Place{Address: postgrestest.URL(t)}, store.Place{Address: postgrestest.URL(t)}
	back := store.Place{File: filepath.Join(t.TempDir(), "ferrite.db")}
	want := copyOf(t, file, first)
	if i := slices.IndexFunc(want, func(c store.Copied) bool { return c.Table == "nodes" }); want[i].Rows != 4 {
		t.Errorf("%d nodes were copied, want 4", want[i].Rows)
	}
	for _, pair := range [][2]store.Place{{first, second}, {second, back}} {
		if d := cmp.Diff(want, copyOf(t, pair[0], pair[1])); d != "" {
			t.Errorf("from %s to %s: -want +got:\n%s", pair[0], pair[1], d)
		}
	}
	server := openPostgres(t, second.Address, store.PostgresOptions{})
	ids := map[int64]bool{}
	for name, s := range map[string]*store.Database{
		"the first file": openFile(t, file.File), "the server": server, "the last file": openFile(t, back.File),
	} {
		t.Run(name, func(t *testing.T) { ids[lookAt(t, s)] = true })
	}
	if len(ids) != 1 || ids[0] {
		t.Errorf("the databases number the next effect %v", ids)
	}
}

func openFile(t *testing.T, file string) *store.Database {
	t.Helper()
	s, err := store.Open(t.Context(), file, store.Options{NoSync: true, Keys: ringOf(t, 1)})
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

// lookAt checks the records that furnished made, and returns the number of the next effect.
func lookAt(t *testing.T, s *store.Database) int64 {
	t.Helper()
	n, err := s.Node(t.Context(), "n\x00\x01\x02c")
	if err != nil || n.DriverInfo["redfish_password"] != "planted-word" || n.Description != "Größe \U0001F5A5 \\u0000" {
		t.Errorf("the node is %+v, %v", n, err)
	}
	h, err := s.History(t.Context(), uuidN(2))
	if err != nil || len(h) != 1 || h[0].Event != "born\x00" {
		t.Errorf("its history is %+v, %v", h, err)
	}
	rows, revision, err := s.Objects(t.Context(), objects.Query{})
	if err != nil || len(rows) != 5 || revision != 5 || string(rows[0].Doc) != "{\x00\xff" {
		t.Errorf("documents: %d rows up to revision %d, %v", len(rows), revision, err)
	}
	leases, err := s.Leases(t.Context())
	if err != nil || len(leases) != 5 || !leases[1].Static || leases[2].Static {
		t.Errorf("leases: %+v, %v", leases, err)
	}
	fresh := node.Node{UUID: uuidN(9)}
	if _, err := s.Commit(t.Context(), node.Change{Insert: &fresh, Effects: []node.Effect{{Node: fresh.UUID, Generation: 1,
		Name: "x", Args: []byte("{}")}}}); err != nil {
		t.Fatal(err)
	}
	e, err := s.PendingEffect(t.Context(), fresh.UUID)
	if err != nil || e == nil {
		t.Fatalf("effect %v, %v", e, err)
	}
	return e.ID
}

var errCut = errors.New("cut off")

// TestCopyCutOff: a copy that ends before its end leaves nothing, and can be made again.
func TestCopyCutOff(t *testing.T) {
	from := store.Place{File: furnished(t)}
	for name, to := range map[string]store.Place{
		"server": {Address: postgrestest.URL(t)}, "file": {File: filepath.Join(t.TempDir(), "ferrite.db")},
	} {
		t.Run(name, func(t *testing.T) {
			for _, after := range []string{"sealing", "ports", "objects_revision"} {
				_, err := store.Copy(t.Context(), from, to, store.CopyOptions{Done: func(c store.Copied) error {
					if c.Table == after {
						return errCut
					}
					return nil
				}})
				if !errors.Is(err, errCut) {
					t.Fatalf("after %s it ended with %v", after, err)
				}
			}
			if to.File != "" {
				left, err := os.ReadDir(filepath.Dir(to.File))
				if err != nil || len(left) != 0 {
					t.Errorf("%v is left (%v)", left, err)
				}
				if err := os.WriteFile(to.File+".copy", []byte("of one that was killed"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			copyOf(t, from, to)
			if _, err := store.Copy(t.Context(), from, to, store.CopyOptions{}); !errors.Is(err, store.ErrNotEmpty) {
				t.Errorf("a second copy ended with %v, want %v", err, store.ErrNotEmpty)
			}
		})
	}
}

// TestCopyRefused: nothing is copied from or to a database that a conductor has, nor without its key.
func TestCopyRefused(t *testing.T) {
	file, empty := store.Place{File: furnished(t)}, func() store.Place { return store.Place{Address: postgrestest.URL(t)} }
	inUse := empty()
	openPostgres(t, inUse.Address, store.PostgresOptions{})
	for name, c := range map[string]struct {
		from, to store.Place
		key      byte
		want     error
	}{
		"the source is in use": {inUse, store.Place{File: filepath.Join(t.TempDir(), "f")}, 1, store.ErrInUse},
		"the target is in use": {file, inUse, 1, store.ErrInUse},
		"another key":          {file, empty(), 2, store.ErrKeys},
		"no source":            {store.Place{File: filepath.Join(t.TempDir(), "f")}, empty(), 1, os.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := store.Copy(t.Context(), c.from, c.to, store.CopyOptions{Keys: ringOf(t, c.key)})
			if !errors.Is(err, c.want) {
				t.Errorf("it ended with %v, want %v", err, c.want)
			}
		})
	}
}

// BenchmarkCopy copies 10,000 nodes with their history to a server on this machine, and back.
func BenchmarkCopy(b *testing.B) {
	file := filepath.Join(b.TempDir(), "ferrite.db")
	s, err := store.Open(b.Context(), file, store.Options{NoSync: true, Keys: ringOf(b, 1)})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 10_000 {
		n := largesite.Node(i)
		_, err = s.Commit(b.Context(), node.Change{Insert: &n, History: []node.HistoryEntry{
			{UUID: largesite.Instance(i), NodeUUID: n.UUID, Event: "enrolled"},
		}})
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		places := []store.Place{
			{File: file}, {Address: postgrestest.URL(b)}, {File: filepath.Join(b.TempDir(), "ferrite.db")},
		}
		for i := range 2 {
			if _, err := store.Copy(b.Context(), places[i], places[i+1], store.CopyOptions{Keys: ringOf(b, 1)}); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(2*20_000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
