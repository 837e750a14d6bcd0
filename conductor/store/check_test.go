package store

import (
	"database/sql"
	"path/filepath"
	"slices"
	"testing"
)

// TestCheckedTables: Check knows every table of the schema, since when there is
// one, and columns that there are.
func TestCheckedTables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ferrite.db")
	s, err := Open(t.Context(), path, Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var all []string
	c := checker{copySide: &copySide{dialect: sqliteDialect, db: s.read.db}}
	if err := c.connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	}()
	names := func(query string, args ...any) (found []string) {
		t.Helper()
		if err := c.each(t.Context(), query, func(rows *sql.Rows) error {
			var name string
			err := rows.Scan(&name)
			found = append(found, name)
			return err
		}, args...); err != nil {
			t.Fatal(err)
		}
		return found
	}
	for _, table := range checkedTables {
		all = append(all, table.name)
		columns := names("SELECT name FROM pragma_table_info(?)", table.name)
		for _, column := range table.columns {
			if !slices.Contains(columns, column) {
				t.Errorf("table %s has no column %s", table.name, column)
			}
		}
	}
	for _, name := range names("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'") {
		if name != "goose_db_version" && !slices.Contains(all, name) {
			t.Errorf("table %s is not checked", name)
		}
	}
	if known, err := newestSchema(); err != nil {
		t.Error(err)
	} else if v, err := SchemaVersion(t.Context(), path); err != nil || v != known {
		t.Errorf("the newest schema is %d, the database has %d, %v", known, v, err)
	}
}
