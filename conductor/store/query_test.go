package store

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
)

// TestPostgresText writes the busiest statements as PostgreSQL has them: each
// can be prepared there with psql(1), over the tables of the migrations.
func TestPostgresText(t *testing.T) {
	available, far, no := node.Available, "far", false
	nodes := func(q node.Query) *query {
		sel, err := selectNodes(postgresDialect, nodeRowColumns, &q)
		if err != nil {
			t.Fatal(err)
		}
		return sel
	}
	var out strings.Builder
	prepare := func(name, text string) { fmt.Fprintf(&out, "PREPARE %s AS\n%s;\n\n", name, text) }
	prepare("node", bindDollars(selectNode))
	prepare("page", nodes(node.Query{ProvisionState: &available, Marker: "m", Limit: 100}).String())
	prepare("free", nodes(node.Query{
		Equal: map[string]string{"resource_class": "c"}, Is: map[string]bool{"maintenance": no}, Associated: &no,
		Project: "p", ConductorGroup: &far, UUIDs: []string{"u"}, Shards: []string{"s"}, Contains: "x",
		SortKey: "boot_interface", Desc: true,
	}).String())
	prepare("sorted", nodes(node.Query{Equal: map[string]string{"fault": "f"}, SortKey: "secure_boot"}).String())
	enabled := true
	prepare("consoles", nodes(node.Query{
		Equal: map[string]string{"driver": "d"}, ConductorGroup: &far, ConsoleEnabled: &enabled}).String())
	prepare("ports", selectPorts(postgresDialect, &node.PortQuery{
		NodeUUID: "n", Shards: []string{"s"}, Project: "p", Marker: "m", Limit: 100, Contains: "x",
	}).String())
	prepare("documents", selectObjects(postgresDialect, &objects.Query{
		Kind: "k", Owner: "o", After: objects.Key{Name: "n"},
	}).String())
	prepare("expired", bindDollars(selectExpired))
	prepare("claim", bindDollars(claimEffects(postgresDialect)))
	prepare("save_often", bindDollars(saveOften))
	prepare("save_whole", bindDollars(saveWhole))
	prepare("insert_node", bindDollars(insertNode))

	const golden = "testdata/postgres.sql"
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Error(diff)
	}
}

// TestSortKeys: every sort key has an expression in both dialects.
func TestSortKeys(t *testing.T) {
	for key, want := range map[string]string{
		"":                 "id",
		"created_at":       "created_at",
		"last_error":       "coalesce(doc ->> '$.last_error', '')",
		"secure_boot":      "coalesce(doc ->> '$.secure_boot', -1)",
		"vendor_interface": "coalesce(doc ->> '$.interfaces.vendor', '')",
	} {
		if got, err := sqliteDialect.sortExpression(key); err != nil || got != want {
			t.Errorf("%q: %s, %v, want %s", key, got, err, want)
		}
	}
	for _, key := range []string{"doc", "vendor", "x_interface", "_interface"} {
		if _, err := sqliteDialect.sortExpression(key); err == nil {
			t.Errorf("%q is a sort key", key)
		}
	}
}
