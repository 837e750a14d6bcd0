package serve

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// storeOf runs `ferrite server store`.
func storeOf(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	c := StoreCommand()
	var text bytes.Buffer
	c.SetOut(&text)
	c.SetErr(&text)
	c.SetArgs(args)
	err = c.ExecuteContext(t.Context())
	return text.String(), err
}

// tableLine is the output of copy for a table.
var tableLine = regexp.MustCompile(`(?m)^[a-z_]+ +\d+ [0-9a-f]{64}$`)

// TestStoreCopy: a recorded folder goes to PostgreSQL, where a conductor finds its nodes, and comes back.
func TestStoreCopy(t *testing.T) {
	t.Parallel()
	dir, address := migrated(t), postgrestest.URL(t)
	back := withKeys(t, dir)
	out, err := storeOf(t, "copy", dir, address)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	there := tableLine.FindAllString(out, -1)
	if len(there) < 19 || !strings.Contains(out, "nodes                    34 ") ||
		!strings.Contains(out, "store: copied ") {
		t.Errorf("it says %s", out)
	}
	out, err = storeOf(t, "check", "--data-dir", dir, "--database", address)
	for _, want := range []string{"nodes: 34\n", "erase_reports: 1\n", "store: ok\n"} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("check of the server ended with %v: %s", err, out)
		}
	}
	if out, err = storeOf(t, "copy", address, back); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if d := cmp.Diff(there, tableLine.FindAllString(out, -1)); d != "" {
		t.Errorf("the way back: -there +back:\n%s", d)
	}
	if out, err := storeCheckOf(t, back); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	c := start(t, dir, "--database", address)
	c.Call(t, "GET", "/v1/nodes/lived", nil, 200)
	for want, args := range map[string][]string{
		"another conductor is using": {address, withKeys(t, dir)},
		"in use by another":          {dir, "postgres://ferrite@db.example/ferrite"},
		"found ferrite.db":           {address, back},
	} {
		if out, err := storeOf(t, "copy", args[0], args[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("beside a conductor it ended with %v, want %q: %s", err, want, out)
		}
	}
	c.End(t)
}

// withKeys is a new folder with the keys of another.
func withKeys(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	for _, name := range []string{keys.SecretsFile, keys.EraseReportFile} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestStoreCopyRefused: a copy that cannot work is refused before anything changes.
func TestStoreCopyRefused(t *testing.T) {
	dir, nowhere := migrated(t), "postgres://ferrite:planted-word@/ferrite?host="+t.TempDir()
	for want, args := range map[string][]string{
		"found two data folders":               {dir, t.TempDir()},
		"accepts 2 arg(s)":                     {dir},
		"are the same database":                {nowhere, nowhere},
		"there is no ferrite.db in it":         {t.TempDir(), nowhere},
		"expected a data folder or a URL":      {filepath.Join(dir, "none"), nowhere},
		"the key " + keys.SecretsFile:          {nowhere, t.TempDir()},
		"database postgres://ferrite@/ferrite": {dir, nowhere},
		"no such file":                         {"--database-password-file", filepath.Join(dir, "none"), dir, nowhere},
	} {
		out, err := storeOf(t, append([]string{"copy"}, args...)...)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error()+out, "planted-word") {
			t.Errorf("%q ended with %v, want %q: %s", args, err, want, out)
		}
	}
}

// TestStoreCheckServer: faults in PostgreSQL are named in the same way as faults in a file.
func TestStoreCheckServer(t *testing.T) {
	t.Parallel()
	dir, address := migrated(t), postgrestest.URL(t)
	if out, err := storeOf(t, "copy", dir, address); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	for _, c := range [][2]string{ // one after the other, those last that keep others from being found
		{"UPDATE nodes SET provision_state = 'enroll' WHERE name = 'lived'", "expected provision_state active, which"},
		{"UPDATE nodes SET retired = NOT retired WHERE name = 'lived'", "expected retired "},
		{"UPDATE allocations SET node_uuid = NULL", "no such allocation of this node: "},
		{"DELETE FROM effects", "the next effect of a node at work, found "},
		{"UPDATE leases SET ip = 'x' || ip", "leases, row "},
		{"UPDATE objects SET revision = 999999", "a revision that was given out"},
		{"UPDATE nodes SET sealed = substr(sealed, 1, 40) WHERE sealed IS NOT NULL", "sealed values that its key opens"},
		{"INSERT INTO objects_revision VALUES (1)", "objects_revision: expected one row"},
		{"UPDATE nodes SET doc = left(doc, 100) WHERE name = 'lived'", "the JSON of a node.Node, found unexpected end"},
		{"UPDATE goose_db_version SET version_id = version_id + 90", "which is the newest of this build"},
	} {
		r, err := conn.Exec(t.Context(), c[0])
		if err != nil || r.RowsAffected() == 0 {
			t.Fatalf("%s: %v, %v", c[0], r, err)
		}
		out, err := storeOf(t, "check", "--data-dir", dir, "--database", address)
		if err == nil || !strings.Contains(out, c[1]) {
			t.Errorf("%s: it ended with %v, want %q: %s", c[0], err, c[1], out)
		}
	}
}
