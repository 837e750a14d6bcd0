package store_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// TestMembersAmidUpgrade: a member that changes the schema ends the terms of older builds. These can neither lead again
// nor join anew, and get an error with the reason.
func TestMembersAmidUpgrade(t *testing.T) {
	address := postgrestest.URL(t)
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDB(*config)
	defer db.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, db, os.DirFS("migrations/postgres"),
		goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	sources := p.ListSources()
	if _, err := p.UpTo(t.Context(), sources[len(sources)-2].Version); err != nil {
		t.Fatal(err)
	}
	const older = `INSERT INTO leader (conductor_group, epoch, holder, until)
		VALUES ('rack', 5, 'older', clock_timestamp() + interval '1 hour')`
	if _, err := db.ExecContext(t.Context(), older); err != nil {
		t.Fatal(err)
	}

	m := openMembers(t, address) // the newer build
	epoch, ok, err := m.Take(t.Context(), "rack", "newer", time.Hour)
	if err != nil || !ok || epoch <= 6 {
		t.Fatalf("the newer build takes the group: epoch %d, %t, %v", epoch, ok, err)
	}
	if behind, err := m.Behind(t.Context()); err != nil || behind {
		t.Errorf("the build that wrote the schema is behind: %t, %v", behind, err)
	}

	const next = "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)"
	if _, err := db.ExecContext(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if behind, err := m.Behind(t.Context()); err != nil || !behind {
		t.Errorf("behind: %t, %v", behind, err)
	}
	if err := m.Renew(t.Context(), "rack", epoch, time.Hour); !errors.Is(err, store.ErrSuperseded) {
		t.Errorf("an older build goes on leading: %v", err)
	}
	if _, ok, err := m.Take(t.Context(), "", "newer", time.Hour); ok || err != nil {
		t.Errorf("an older build takes a group: %t, %v", ok, err)
	}
	again, err := store.OpenMembers(t.Context(), address, store.PostgresOptions{})
	if err == nil || !strings.Contains(err.Error(), "9999") || !strings.Contains(err.Error(), "newer build") {
		t.Errorf("an older build joins: %v", err)
	}
	if err == nil {
		_ = again.Close()
	}
}
