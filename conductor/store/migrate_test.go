package store_test

import (
	"database/sql"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// TestMigratePorts: ports of a time when they could name portgroups that did
// not exist, and share names, are taken over without.
func TestMigratePorts(t *testing.T) {
	path := t.TempDir() + "/ferrite.db"
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, os.DirFS("migrations"), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	n := uuidN(1)
	for _, text := range []string{
		`INSERT INTO nodes VALUES (1, '` + n + `', 1, 'n1', '', 'enroll', '', '', '', '', '', '', '` + n +
			`', '', '', '', '', '', '', 0, 0, 0, 0, 0, 0, 0, 0, 0, '{"uuid":"` + n + `","chassis_uuid":"` + n + `"}')`,
		`INSERT INTO ports VALUES (1, 'p1', '` + n +
			`', 'a', '{"uuid":"p1","address":"a","name":"eth0","portgroup_uuid":"g","description":"Left","pxe_enabled":true}')`,
		`INSERT INTO ports VALUES (2, 'p2', '` + n + `', 'b', '{"uuid":"p2","address":"b","name":"eth0"}')`,
		`INSERT INTO ports VALUES (3, 'p3', '` + n + `', 'c', '{"uuid":"p3","address":"c"}')`,
	} {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	ports, err := s.Ports(t.Context(), node.PortQuery{})
	want := []node.Port{{UUID: "p1", Address: "a", Name: "eth0", Description: "Left", PXEEnabled: true},
		{UUID: "p2", Address: "b"}, {UUID: "p3", Address: "c"}}
	if d := cmp.Diff(want, ports); err != nil || d != "" {
		t.Errorf("%v, -want +got:\n%s", err, d)
	}
	found, err := s.Ports(t.Context(), node.PortQuery{Contains: "left"})
	if err != nil || len(found) != 1 {
		t.Errorf("by description: %v %v", found, err)
	}
	of, err := s.Node(t.Context(), "n1")
	if err != nil || of.ChassisUUID != "" {
		t.Errorf("the node is in chassis %q: %v", of.ChassisUUID, err)
	}
}
