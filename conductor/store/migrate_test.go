package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// TestOlderThanFirst: a schema from before the first migration is refused, and stays as it is.
func TestOlderThanFirst(t *testing.T) {
	path := t.TempDir() + "/ferrite.db"
	s, err := store.Open(t.Context(), path, store.Options{})
	if err == nil {
		err = s.Close()
	}
	db, opened := sql.Open("sqlite", path)
	if err := errors.Join(err, opened); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range []string{"DELETE FROM goose_db_version WHERE version_id >= 12",
		"INSERT INTO goose_db_version (version_id, is_applied) VALUES (9, 1)"} {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	const want = "the schema is version 9, this build upgrades versions from 12: start a build of v0.1 on it first"
	if _, err := store.Open(t.Context(), path, store.Options{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, expected: %s", err, want)
	}
	var newest int
	if err := db.QueryRowContext(t.Context(), "SELECT max(version_id) FROM goose_db_version").Scan(&newest); err != nil ||
		newest != 9 {
		t.Errorf("the version is %d now, %v", newest, err)
	}
}

// opened is the store of a database that had the schema of an earlier version and these rows.
func opened(t *testing.T, driver string, version int64, rows ...string) (s *store.Database) {
	t.Helper()
	address := t.TempDir() + "/ferrite.db"
	if driver == "pgx" {
		address = postgrestest.URL(t)
	}
	db, err := sql.Open(driver, address)
	if err == nil {
		err = store.MigrateTo(t.Context(), db, driver, version)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range rows {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if driver == "pgx" {
		s, err = store.OpenPostgres(t.Context(), address, store.PostgresOptions{})
	} else {
		s, err = store.Open(t.Context(), address, store.Options{})
	}
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

// TestMigrateConsoles: enabled consoles of older records are found.
func TestMigrateConsoles(t *testing.T) {
	row := func(i int, doc string) string {
		return fmt.Sprintf(`INSERT INTO nodes (uuid, revision, name, driver, provision_state, target_provision_state,
			power_state, target_power_state, resource_class, conductor_group, instance_uuid, instance_name, chassis_uuid,
			owner, lessee, fault, shard, parent_node, description_lower, machine, maintenance, retired, protected, created_at,
			updated_at, provision_updated_at, inspection_started_at, inspection_finished_at, deadline, doc) VALUES
			('%s', 1, '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', false, false, false, 0, 0, 0, 0,
			0, 0, '%s')`, uuidN(i), strings.ReplaceAll(doc, "UUID", uuidN(i)))
	}
	for driver, version := range map[string]int64{"sqlite": 21, "pgx": 9} {
		t.Run(driver, func(t *testing.T) {
			s, on := opened(t, driver, version, row(0, `{"uuid":"UUID"}`), row(1, `{"uuid":"UUID","console_enabled":true}`),
				row(2, `{"uuid":"UUID","extra":{"console_enabled":true}}`), row(3, `{"uuid":"`)), true
			found, err := s.NodeUUIDs(t.Context(), node.Query{ConsoleEnabled: &on})
			if err != nil || !slices.Equal(found, []string{uuidN(1)}) {
				t.Errorf("found %v (%v), want the one whose console is enabled", found, err)
			}
		})
	}
}

// TestMigrateImageNames: images of a time when a name was unique among all keep their names, and a project may have one
// that another has.
func TestMigrateImageNames(t *testing.T) {
	row := func(i int, name, doc string) string {
		return fmt.Sprintf("INSERT INTO images (uuid, name, digest, revision, doc) VALUES ('%s', '%s', 'd', 1, '%s')",
			uuidN(i), name, strings.ReplaceAll(doc, "UUID", uuidN(i)))
	}
	for driver, version := range map[string]int64{"sqlite": 27, "pgx": 16} {
		t.Run(driver, func(t *testing.T) {
			s := opened(t, driver, version,
				row(1, "common", `{"uuid":"UUID","revision":1,"name":"common","digest":"d"}`),
				row(2, "own", `{"uuid":"UUID","revision":1,"name":"own","owner":"blue","digest":"d"}`),
				row(3, "last", `{}`), "DELETE FROM images WHERE name = 'last'")
			for i, w := range []struct {
				owner, name string
				taken       bool
			}{{"", "common", true}, {"blue", "own", true}, {"red", "own", false}, {"", "own", false}, {"red", "own", true}} {
				_, err := s.Catalogs().Images.Insert(t.Context(),
					node.Image{Record: node.Record{UUID: uuidN(10 + i)}, Owner: w.owner, Name: w.name, Digest: "d"})
				if errors.Is(err, node.ErrConflict) != w.taken || err != nil && !w.taken {
					t.Errorf("image %s of %q: %v, expected taken %t", w.name, w.owner, err, w.taken)
				}
			}
			all, err := s.Catalogs().Images.List(t.Context(), "name", "own")
			if err != nil || len(all) != 3 || all[0].Owner != "blue" {
				t.Errorf("images of the name are %v, %v", all, err)
			}
		})
	}
}

// TestMigrationNumbers: two changes that were made side by side may have taken one number.
func TestMigrationNumbers(t *testing.T) {
	for _, folder := range []string{"migrations", "migrations/postgres"} {
		names, err := fs.Glob(os.DirFS(folder), "*.sql")
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %d migrations", folder, err, len(names))
		}
		seen := map[string]string{}
		for _, name := range names {
			number, _, _ := strings.Cut(name, "_")
			if other := seen[number]; other != "" {
				t.Errorf("%s and %s have one number: give the later one the next", other, name)
			}
			seen[number] = name
		}
	}
}
