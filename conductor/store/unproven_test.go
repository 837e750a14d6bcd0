package store_test

import (
	"database/sql"
	"fmt"
	"os"
	"testing"

	"github.com/pressly/goose/v3"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// TestMigrateBootsUnderWay: only boots that an older conductor began are excused
// from the one-time token.
func TestMigrateBootsUnderWay(t *testing.T) {
	path := t.TempDir() + "/ferrite.db"
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, os.DirFS("migrations"), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), 12); err != nil {
		t.Fatal(err)
	}
	var states []node.State
	for state := range node.States {
		states = append(states, state)
		n := uuidN(len(states))
		text := fmt.Sprintf(
			`INSERT INTO nodes VALUES (%d, '%s', 1, '', '', '%s', '', '', '', '', '', '', '', '', '', '', '', '', '', 0, 0, 0, 0, 0, 0, 0, 0, 0, '{"uuid":"%[2]s","provision_state":"%[3]s","agent":{"version":"1"}}', '')`, len(states), n, state)
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
	boots := map[node.State]bool{
		node.Deploying: true, node.DeployWait: true, node.Cleaning: true, node.CleanWait: true, node.Inspecting: true,
		node.InspectWait: true,
		node.Rescuing:    true, node.RescueWait: true, node.Servicing: true, node.ServiceWait: true,
	}
	for i, state := range states {
		n, err := s.Node(t.Context(), uuidN(i+1))
		if err != nil {
			t.Fatal(err)
		}
		if want := (node.Agent{Version: "1", Unproven: boots[state]}); n.Agent != want {
			t.Errorf("in %q: %+v", state, n.Agent)
		}
	}
}
