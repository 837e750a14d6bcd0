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

// TestMigrateConsoles: enabled consoles of older records are found.
func TestMigrateConsoles(t *testing.T) {
	for driver, c := range map[string]struct {
		version string
		later   string // undoes later migrations
		address func(t *testing.T) string
		open    func(t *testing.T, address string) (*store.Database, error)
	}{
		"sqlite": {"22", "DROP TABLE images; ALTER TABLE effects DROP COLUMN accepted; DROP TABLE audit_writers; " +
			"DROP TRIGGER audit_keeps; CREATE TRIGGER audit_keeps BEFORE DELETE ON audit BEGIN SELECT 1; END; " +
			"DROP INDEX allocations_owner; ALTER TABLE allocations DROP COLUMN owner; " +
			"DROP INDEX runbooks_owner; ALTER TABLE runbooks DROP COLUMN owner",
			func(t *testing.T) string { return t.TempDir() + "/ferrite.db" },
			func(t *testing.T, file string) (*store.Database, error) {
				return store.Open(t.Context(), file, store.Options{})
			}},
		"pgx": {"10", "DROP TABLE images; DROP FUNCTION leader_epoch CASCADE; ALTER TABLE effects DROP COLUMN accepted; " +
			"DROP TABLE audit_writers; DROP FUNCTION audit_keeps CASCADE; DROP FUNCTION audit_cut; " +
			"ALTER TABLE allocations DROP COLUMN owner; ALTER TABLE runbooks DROP COLUMN owner",
			func(t *testing.T) string { return postgrestest.URL(t) },
			func(t *testing.T, url string) (*store.Database, error) {
				return store.OpenPostgres(t.Context(), url, store.PostgresOptions{})
			}},
	} {
		t.Run(driver, func(t *testing.T) {
			address, on := c.address(t), true
			within := func(do func(s *store.Database)) {
				t.Helper()
				s, err := c.open(t, address)
				if err != nil {
					t.Fatal(err)
				}
				do(s)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			within(func(s *store.Database) {
				for i := range 4 {
					n := node.Node{UUID: uuidN(i), ConsoleEnabled: i == 1}
					if i == 2 {
						n.Extra = map[string]any{"console_enabled": true}
					}
					if _, err := s.Commit(t.Context(), node.Change{Insert: &n}); err != nil {
						t.Fatal(err)
					}
				}
			})
			db, err := sql.Open(driver, address)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{
				c.later, "DROP TABLE declines", "DROP INDEX nodes_console_enabled", "ALTER TABLE nodes DROP COLUMN console_enabled",
				"DELETE FROM goose_db_version WHERE version_id >= " + c.version,
				`UPDATE nodes SET doc = '{"uuid":"' WHERE uuid = '` + uuidN(3) + "'",
			} {
				if _, err := db.ExecContext(t.Context(), text); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			within(func(s *store.Database) {
				found, err := s.NodeUUIDs(t.Context(), node.Query{ConsoleEnabled: &on})
				if err != nil || !slices.Equal(found, []string{uuidN(1)}) {
					t.Errorf("found %v (%v), want the one whose console is enabled", found, err)
				}
			})
		})
	}
}

// TestMigrateImageNames: images of a time when a name was unique among all keep their names, and a project may have one
// that another has.
func TestMigrateImageNames(t *testing.T) {
	for driver, c := range map[string]struct {
		version, create string
		address         func(t *testing.T) string
		open            func(t *testing.T, address string) (*store.Database, error)
	}{
		"sqlite": {"28", "migrations/00023_images.sql",
			func(t *testing.T) string { return t.TempDir() + "/ferrite.db" },
			func(t *testing.T, file string) (*store.Database, error) {
				return store.Open(t.Context(), file, store.Options{})
			}},
		"pgx": {"17", "migrations/postgres/00012_images.sql",
			func(t *testing.T) string { return postgrestest.URL(t) },
			func(t *testing.T, url string) (*store.Database, error) {
				return store.OpenPostgres(t.Context(), url, store.PostgresOptions{})
			}},
	} {
		t.Run(driver, func(t *testing.T) {
			address := c.address(t)
			s, err := c.open(t, address)
			if err == nil {
				err = s.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			older, err := os.ReadFile(c.create)
			if err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open(driver, address)
			if err != nil {
				t.Fatal(err)
			}
			row := func(i int, name, doc string) string {
				return fmt.Sprintf("INSERT INTO images (uuid, name, digest, revision, doc) VALUES ('%s', '%s', 'd', 1, '%s')",
					uuidN(i), name, strings.ReplaceAll(doc, "UUID", uuidN(i)))
			}
			for _, text := range []string{
				"DROP TABLE images", string(older), "DELETE FROM goose_db_version WHERE version_id >= " + c.version,
				row(1, "common", `{"uuid":"UUID","revision":1,"name":"common","digest":"d"}`),
				row(2, "own", `{"uuid":"UUID","revision":1,"name":"own","owner":"blue","digest":"d"}`),
				row(3, "last", `{}`), "DELETE FROM images WHERE name = 'last'",
			} {
				if _, err := db.ExecContext(t.Context(), text); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if s, err = c.open(t, address); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
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
