package store_test

import (
	"database/sql"
	"fmt"
	"os"
	"testing"

	"github.com/pressly/goose/v3"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/storetest"
)

// TestMachinesOfTwoHandles: a second process that has the database open cannot store a second node of a machine.
func TestMachinesOfTwoHandles(t *testing.T) {
	dir := t.TempDir()
	storetest.RaceMachines(t, open(t, dir, store.Options{NoSync: true}), open(t, dir, store.Options{NoSync: true}))
}

// TestMigrateMachines: of the nodes of one machine in an old database the oldest holds it, and the others are marked.
// All keep their revision, can be saved, and the next node of the machine is refused. There are more rows than are
// read at a time, one of them damaged.
func TestMigrateMachines(t *testing.T) {
	path := t.TempDir() + "/ferrite.db"
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, os.DirFS("migrations"), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), 14); err != nil {
		t.Fatal(err)
	}
	const many = 1200
	insertOld := func(i int, parent, doc string) {
		t.Helper()
		text := `INSERT INTO nodes VALUES (?, ?, 1, '', 'redfish', 'enroll', '', '', '', '', '', '', '', '', '', '', '', ?, '',
			0, 0, 0, 0, 0, 0, 0, 0, 0, ?, '', NULL)`
		if _, err := db.ExecContext(t.Context(), text, i, uuidN(i), parent, doc); err != nil {
			t.Fatal(err)
		}
	}
	old := func(i int, parent, address string) {
		t.Helper()
		insertOld(i, parent, fmt.Sprintf(`{"uuid":"%s","revision":1,"driver":"redfish","provision_state":"enroll",`+
			`"parent_node":"%s","driver_info":{"redfish_address":"%s"}}`, uuidN(i), parent, address))
	}
	for i := range many {
		old(i+1, "", fmt.Sprintf("https://10.0.%d.%d", i/200, i%200))
	}
	old(many+1, "", "10.0.0.7:443")
	old(many+2, uuidN(8), "https://10.0.0.7")
	insertOld(many+3, "", "{")
	old(many+4, "", "https://10.0.0.7/redfish/v1")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), path, store.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	for i, shares := range map[int]bool{8: false, many: false, many + 1: true, many + 2: false, many + 4: true} {
		n, err := s.Node(t.Context(), uuidN(i))
		if err != nil || n.SharesMachine != shares || n.Revision != 1 {
			t.Errorf("node %d: %+v, %v, want shared %v", i, n, err, shares)
		}
		n.Name = fmt.Sprintf("n%d", i)
		if _, err := s.Commit(t.Context(), node.Change{Save: &n}); err != nil {
			t.Errorf("node %d cannot be saved: %v", i, err)
		}
	}
	for _, address := range []string{"https://10.0.0.7", fmt.Sprintf("https://10.0.%d.%d", (many-1)/200, (many-1)%200)} {
		n := node.Node{UUID: uuidN(many + 9), Driver: "redfish", DriverInfo: map[string]any{"redfish_address": address}}
		if _, err := s.Commit(t.Context(), node.Change{Insert: &n}); err == nil {
			t.Errorf("a second node of %s is stored", address)
		}
	}
}
