package store_test

import (
	"database/sql"
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares a text with a file under testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// TestSchema: the tables, indexes and triggers after all migrations are the same as in testdata/schema.sql. A change of
// it needs a migration.
func TestSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ferrite.db")
	s, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY tbl_name, "+
		"type DESC, name")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var schema strings.Builder
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&schema, text+";")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	golden(t, "schema.sql", schema.String())
}

// TestStoredDocuments: the fields of all documents in the database are the same as in testdata/documents.txt, by the
// names under which they are stored. Renaming a field loses it from every existing database.
func TestStoredDocuments(t *testing.T) {
	var got strings.Builder
	for _, d := range []struct {
		table string
		of    any
	}{
		{"nodes", node.Node{}},
		{"ports", node.Port{}},
		{"history", node.HistoryEntry{}},
		{"told", node.HardwareReport{}},
		{"deploy_templates", node.DeployTemplate{}},
		{"runbooks", node.Runbook{}},
		{"allocations", node.Allocation{}},
		{"chassis", node.Chassis{}},
		{"portgroups", node.Portgroup{}},
		{"volume_connectors", node.VolumeConnector{}},
		{"volume_targets", node.VolumeTarget{}},
		{"inspection_rules", node.InspectionRule{}},
		{"erase_reports", node.EraseReport{}},
		{"images", node.Image{}},
	} {
		fmt.Fprintln(&got, d.table)
		list(&got, reflect.TypeOf(d.of), "", nil)
	}
	golden(t, "documents.txt", got.String())
}

// list writes the fields of a type as encoding/json names them, and fields of nested structs by their paths. within are
// the types around it.
func list(w *strings.Builder, of reflect.Type, path string, within []reflect.Type) {
	for _, f := range reflect.VisibleFields(of) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() || len(f.Index) > 1 && !embedded(of, f):
			continue
		case f.Anonymous && name == "":
			continue // its fields come by themselves
		case name == "":
			name = f.Name
		}
		at := path + "." + name
		kind, inner := form(f.Type)
		if options != "" {
			kind += "," + options
		}
		fmt.Fprintf(w, "\t%s %s\n", at[1:], kind)
		if inner != nil && len(within) < 6 {
			list(w, inner, at, append(within, of))
		}
	}
}

// embedded reports whether a promoted field comes from structs without a name of
// their own.
func embedded(of reflect.Type, f reflect.StructField) bool {
	for i := 1; i < len(f.Index); i++ {
		if name, _, _ := strings.Cut(of.FieldByIndex(f.Index[:i]).Tag.Get("json"), ","); name != "" {
			return false
		}
	}
	return true
}

// form is the JSON that a type becomes, and the struct in it.
func form(of reflect.Type) (kind string, inner reflect.Type) {
	text := reflect.TypeFor[encoding.TextMarshaler]()
	own := reflect.TypeFor[json.Marshaler]()
	switch {
	case of.Implements(own) && of.Kind() != reflect.Pointer, of.Implements(text) && of.Kind() != reflect.Pointer:
		return of.String(), nil
	}
	switch of.Kind() { //nolint:exhaustive // what holds no other type is itself
	case reflect.Pointer:
		return form(of.Elem())
	case reflect.Slice, reflect.Array:
		kind, inner = form(of.Elem())
		return "[]" + kind, inner
	case reflect.Map:
		kind, inner = form(of.Elem())
		return "map of " + kind, inner
	case reflect.Struct:
		return "object", of
	}
	return of.Kind().String(), nil
}
