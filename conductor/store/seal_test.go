package store_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/storetest"
)

// openWith opens the database in dir with the keys of these numbers, none for a nil ring.
func openWith(t *testing.T, dir string, o store.Options, numbers ...byte) (*store.Database, error) {
	t.Helper()
	if len(numbers) > 0 {
		o.Keys = ringOf(t, numbers...)
	}
	o.NoSync = true
	return store.Open(t.Context(), filepath.Join(dir, "ferrite.db"), o)
}

// planted makes a database with the secrets of storetest, and with one Secret.
func planted(t *testing.T, dir string, numbers ...byte) {
	t.Helper()
	s, err := openWith(t, dir, store.Options{}, numbers...)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < 4; n++ {
		storetest.Plant(t, s, n)
	}
	if err := errors.Join(s.WriteObjects(t.Context(), []objects.Write{{Row: secretRow(t, 1)}}, func([]int64) {}),
		s.Close()); err != nil {
		t.Fatal(err)
	}
}

// secretRow is a host's Secret as package objects stores it.
func secretRow(t *testing.T, number byte) objects.Row {
	t.Helper()
	r := objects.Row{Key: objects.Key{Kind: "Secret", Namespace: "metal3", Name: "bmc"}, UID: uuidN(77)}
	var err error
	r.Doc, err = ringOf(t, number).Seal(r.String()+" "+r.UID, []byte(
		`{"kind":"Secret","metadata":{"name":"bmc","namespace":"metal3","uid":"`+r.UID+`"}}`))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// found are the planted words in the files of a database.
func found(t *testing.T, dir string) (words []string) {
	t.Helper()
	for _, name := range []string{"ferrite.db", "ferrite.db-wal"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for _, word := range storetest.Planted() {
			if bytes.Contains(text, []byte(word)) {
				words = append(words, name+": "+word)
			}
		}
	}
	return words
}

// opens checks that all planted records can be read with the keys of these numbers, and
// that the file holds none of their words, and envelopes of the first key alone.
func opens(t *testing.T, dir string, numbers ...byte) {
	t.Helper()
	s, err := openWith(t, dir, store.Options{}, numbers...)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < 4; n++ {
		storetest.CheckPlanted(t, s, n)
	}
	rows, _, err := s.Objects(t.Context(), objects.Query{Kind: "Secret"})
	if err != nil || len(rows) != 1 || objects.Check(rows[0], ringOf(t, numbers[0])) != nil {
		t.Errorf("the Secret does not open: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if words := found(t, dir); words != nil {
		t.Errorf("left in plain: %q", words)
	}
	for _, old := range numbers[1:] {
		id := seal.IDOf(keyN(old))
		if text, err := os.ReadFile(filepath.Join(dir, "ferrite.db")); err != nil || bytes.Contains(text, id[:]) {
			t.Errorf("left of key %d: an envelope, %v", old, err)
		}
	}
}

// TestSealedFile: no secret is in the files in plain: while the database is open, with
// its WAL, after records were saved again and deleted, and when it was closed.
func TestSealedFile(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, store.Options{})
	storetest.Plant(t, s, 1)
	storetest.Plant(t, s, 2)
	n, err := s.Node(t.Context(), "11111111-0000-4000-8000-000000000002")
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if n, err = s.Commit(t.Context(), node.Change{Save: &n}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Commit(t.Context(), node.Change{Delete: n.UUID}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "ferrite.db-wal")); err != nil || info.Size() == 0 {
		t.Errorf("there is no WAL to look into: %v", err)
	}
	if words := found(t, dir); words != nil {
		t.Errorf("in plain while it is open: %q", words)
	}
	storetest.CheckPlanted(t, s, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if words := found(t, dir); words != nil {
		t.Errorf("in plain after it was closed: %q", words)
	}
}

// TestPlainWithoutKeys: the search finds the words where they are plain.
func TestPlainWithoutKeys(t *testing.T) {
	dir := t.TempDir()
	planted(t, dir)
	if words := found(t, dir); len(words) < len(storetest.Planted()) {
		t.Errorf("of %q only %q are found in a plain database", storetest.Planted(), words)
	}
}

// errKilled is the error of a step at which sealing is cut off.
var errKilled = errors.New("killed")

// killAt ends sealing at the n-th step.
func killAt(n int, steps *[]string) store.Options {
	return store.Options{Sealing: func(step string) error {
		if *steps = append(*steps, step); len(*steps) == n {
			return errKilled
		}
		return nil
	}}
}

// TestSealingKilled: sealing a plain database, and moving a sealed one to another key,
// can be cut off after each step. All records stay readable with both keys, and the next
// start finishes.
func TestSealingKilled(t *testing.T) {
	for name, c := range map[string]struct{ before, after []byte }{
		"plain":   {nil, []byte{1}},
		"rotated": {[]byte{1}, []byte{2, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n, more := 1, true; more; n++ {
				dir, steps := t.TempDir(), []string(nil)
				planted(t, dir, c.before...)
				s, err := openWith(t, dir, killAt(n, &steps), c.after...)
				if more = errors.Is(err, errKilled); !more {
					if err != nil || n < 8 {
						t.Fatalf("after the steps %q: %v", steps, err)
					}
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
				}
				opens(t, dir, c.after...)
				if t.Failed() {
					t.Fatalf("killed after %q", steps)
				}
				opens(t, dir, c.after[0]) // the old key is needed no more
			}
		})
	}
}

// TestManyRows: a table takes more than one transaction; a kill between them loses
// nothing, and the next start takes the remainder.
func TestManyRows(t *testing.T) {
	dir := t.TempDir()
	s, err := openWith(t, dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const nodes = 450
	for i := range nodes {
		n := node.Node{UUID: uuidN(i), DriverInfo: map[string]any{"redfish_password": fmt.Sprintf("calvin-%d", i)}}
		if _, err := s.Commit(t.Context(), node.Change{Insert: &n}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var steps []string
	if _, err := openWith(t, dir, killAt(2, &steps), 1); !errors.Is(err, errKilled) {
		t.Fatal(steps, err)
	}
	if done := sealedRows(t, dir); done != 400 {
		t.Errorf("%d rows are sealed after two transactions", done)
	}
	s = open(t, dir, store.Options{})
	for i := range nodes {
		n, err := s.Node(t.Context(), uuidN(i))
		if err != nil || n.DriverInfo["redfish_password"] != fmt.Sprintf("calvin-%d", i) {
			t.Fatalf("%v, %v", n.DriverInfo, err)
		}
	}
	if done := sealedRows(t, dir); done != nodes {
		t.Errorf("%d rows are sealed in the end", done)
	}
}

func sealedRows(t *testing.T, dir string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "ferrite.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT count(*) FROM nodes WHERE sealed IS NOT NULL").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestWrongKey: a database opens only with the key that has sealed it. The refusal names both keys and counts the
// sealed rows; nothing is changed.
func TestWrongKey(t *testing.T) {
	dir := t.TempDir()
	planted(t, dir, 1)
	path := filepath.Join(dir, "ferrite.db")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		numbers []byte
		want    string
	}{
		"another": {[]byte{2}, "the key given is " + seal.IDOf(keyN(2)).String()},
		"none":    {nil, "the key given is none"},
	} {
		_, err := openWith(t, dir, store.Options{}, c.numbers...)
		if !errors.Is(err, store.ErrKeys) || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "the key "+seal.IDOf(keyN(1)).String()+" sealed 3 rows of nodes, ") ||
			!strings.Contains(err.Error(), "3 rows of volume_targets") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed: %v", err)
	}
	opens(t, dir, 1)
}

// TestDropLost: values under a lost key are dropped if that is asked for. The records stay, and can be written anew.
func TestDropLost(t *testing.T) {
	dir := t.TempDir()
	planted(t, dir, 1)
	var steps []string
	o := killAt(0, &steps)
	o.DropLost = true
	s, err := openWith(t, dir, o, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := "drop the data that the lost key " + seal.IDOf(keyN(1)).String() + " sealed: 3 rows of nodes"
	if !strings.HasPrefix(steps[0], want) {
		t.Errorf("it says %q", steps)
	}
	n, err := s.Node(t.Context(), "11111111-0000-4000-8000-000000000001")
	if err != nil || n.DriverInfo["redfish_password"] != nil || n.DriverInfo["redfish_address"] != "https://bmc" {
		t.Errorf("%v, %v", n.DriverInfo, err)
	}
	n.DriverInfo["redfish_password"] = "again"
	if _, err := s.Commit(t.Context(), node.Change{Save: &n}); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = openWith(t, dir, store.Options{}, 2); err != nil {
		t.Fatal(err)
	}
	if n, err = s.Node(t.Context(), n.UUID); err != nil || n.DriverInfo["redfish_password"] != "again" {
		t.Errorf("%v, %v", n.DriverInfo, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestTampered: an envelope that was moved to another row, cut or changed gives an error
// that names its record. The other records are read.
func TestTampered(t *testing.T) {
	first, second := "11111111-0000-4000-8000-000000000001", "11111111-0000-4000-8000-000000000002"
	for statement, want := range map[string]string{
		"SET sealed = (SELECT sealed FROM nodes WHERE uuid = '" + second + "')": "belongs to another record",
		"SET sealed = substr(sealed, 1, 30)":                                    "cut short",
		"SET sealed = substr(sealed, 1, length(sealed) - 1)":                    "was changed",
		"SET sealed = x'00' || sealed":                                          "the envelope is damaged",
		"SET sealed = 'plain text that is longer than an envelope'":             "the envelope is damaged",
	} {
		dir := t.TempDir()
		planted(t, dir, 1)
		changed(t, dir, "UPDATE nodes "+statement+" WHERE uuid = '"+first+"'")
		s, err := openWith(t, dir, store.Options{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Node(t.Context(), first)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "nodes, row "+first) {
			t.Errorf("%s: %v, want %q", statement, err, want)
		}
		var bad *node.UnreadableError
		if all, err := s.Nodes(t.Context(), node.Query{}); !errors.As(err, &bad) || len(all) != 2 || bad.UUIDs[0] != first {
			t.Errorf("%s: %d others are listed, %v", statement, len(all), err)
		}
		storetest.CheckPlanted(t, s, 2)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTamperedEffect: an effect with arguments that do not open has none and an Error with the reason, and the others
// are claimed.
func TestTamperedEffect(t *testing.T) {
	dir := t.TempDir()
	planted(t, dir, 1)
	changed(t, dir, "UPDATE effects SET sealed = (SELECT sealed FROM effects LIMIT 1 OFFSET 1) WHERE id = 1")
	s := open(t, dir, store.Options{})
	got, err := storetest.Claim(t.Context(), s, "me", time.Now(), time.Minute, 9)
	if err != nil || len(got) != 3 || got[0].Args != nil || !strings.Contains(got[0].Error, "effects, row "+got[0].Node) ||
		len(got[1].Args) == 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func changed(t *testing.T, dir, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "ferrite.db"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := db.ExecContext(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.RowsAffected(); n != 1 || err != nil {
		t.Fatalf("%s: %d rows, %v", statement, n, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
