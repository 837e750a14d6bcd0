package store

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// notCopied are the tables of one database alone: its leaders, the version of its schema, and its events, which have
// positions of their own. Logs of machines stay where they are.
var notCopied = []string{"goose_db_version", "leader", "members", "shared_keys", "bmc_sessions", "boot_logs", "sights",
	"events", "event_log", "event_readers"}

// TestCopiedTables: Copy knows every table of both schemas, and both have the same columns.
func TestCopiedTables(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ferrite.db")
	s, err := Open(t.Context(), file, Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	address := postgrestest.URL(t)
	c := copying{from: sideOf(t, openSource, Place{File: file}), to: sideOf(t, openTarget, Place{Address: address})}
	for _, table := range copiedTables {
		if _, err := c.columns(t.Context(), table); err != nil {
			t.Errorf("%s: %v", table.name, err)
		}
	}
	page, err := os.ReadFile("../../docs/design/bounds.md")
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.ReadFile("../../docs/data-folder.md")
	if err != nil {
		t.Fatal(err)
	}
	folder, _, _ = bytes.Cut(folder, []byte("\n## ")) // its list is before the first section
	for _, row := range regexp.MustCompile("(?m)^\\| `[a-z.-]+[/`]").FindAll(folder, -1) {
		if !bytes.Contains(page, row) {
			t.Errorf("docs/design/bounds.md has no bound of %s, which docs/data-folder.md names", row)
		}
	}
	for query, side := range map[string]*copySide{
		"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'": c.from,
		"SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()":        c.to,
	} {
		err := side.each(t.Context(), query, func(rows *sql.Rows) error {
			var name string
			err := rows.Scan(&name)
			copied := slices.ContainsFunc(copiedTables, func(t copiedTable) bool { return t.name == name })
			if !copied && !slices.Contains(notCopied, name) {
				t.Errorf("the table %s is not copied", name)
			}
			if !bytes.Contains(page, []byte("| `"+name+"` |")) {
				t.Errorf("docs/design/bounds.md has no bound of the table %s", name)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func sideOf(t *testing.T, open func(context.Context, Place) (*copySide, error), p Place) *copySide {
	t.Helper()
	s, err := open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
