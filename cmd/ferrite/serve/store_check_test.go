package serve

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

var olderFolder = filepath.Join(recordings, "fba4d11.tar.gz")

// storeCheckOf runs `ferrite server store check`, and makes sure that it has left no trace.
func storeCheckOf(t *testing.T, dir string) (out string, err error) {
	t.Helper()
	before := everything(t, dir)
	c := StoreCommand()
	var text bytes.Buffer
	c.SetOut(&text)
	c.SetErr(&text)
	c.SetArgs([]string{"check", "--data-dir", dir})
	err = c.ExecuteContext(t.Context())
	if d := cmp.Diff(before, everything(t, dir)); d != "" {
		t.Errorf("the folder was changed: %.500s", d)
	}
	return text.String(), err
}

// everything is all files of a folder, and their modes.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, infoErr := d.Info()
		text, err := os.ReadFile(filepath.Join(dir, path))
		if err = errors.Join(infoErr, err); err == nil {
			all[path] = info.Mode().String() + " " + string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// migrated is the recorded folder, with the newest schema and nothing in its WAL.
func migrated(t *testing.T) string {
	t.Helper()
	dir := unpackRecorded(t, olderFolder)
	inStore(t, dir, func(context.Context, *store.Database) {})
	return dir
}

// newestSchema is the version of the schema that this build makes.
func newestSchema(t *testing.T) string {
	t.Helper()
	version, err := store.SchemaVersion(t.Context(), filepath.Join(migrated(t), datafolder.DatabaseFile))
	if err != nil {
		t.Fatal(err)
	}
	return strconv.FormatInt(version, 10)
}

func changeRows(t *testing.T, dir, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, datafolder.DatabaseFile))
	if err != nil {
		t.Fatal(err)
	}
	r, err := db.ExecContext(t.Context(), statement)
	if err != nil {
		t.Fatal(errors.Join(err, db.Close()))
	}
	if n, err := r.RowsAffected(); n == 0 && !strings.HasPrefix(statement, "DROP") || err != nil {
		t.Fatalf("%s: %d rows, %v", statement, n, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestStoreCheckWhole: a folder is whole as an earlier build was killed in it, with
// the newest schema, on a medium that is read only, and without the lock.
func TestStoreCheckWhole(t *testing.T) {
	newest := newestSchema(t)
	for name, c := range map[string]struct {
		dir  func(*testing.T) string
		want []string
	}{
		"as recorded": {
			func(t *testing.T) string {
				return unpackRecorded(t, olderFolder)
			}, []string{"schema version 12\n", "changes the schema to version " + newest + "\n", "nodes: 34\n",
				"objects: 14\n", "store: ok\n"},
		},
		"migrated": {
			migrated, []string{"schema version " + newest + "\n", "sealing: 1\n", "nodes: 34\n", "erase_reports: 1\n",
				"store: ok\n"},
		},
		"read only": {func(t *testing.T) string {
			dir := unpackRecorded(t, olderFolder)
			if err := os.Chmod(dir, 0o500); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
			return dir
		}, []string{"store: ok\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := storeCheckOf(t, c.dir(t))
			if err != nil || strings.Contains(out, "fault") {
				t.Errorf("it ended with %v: %s", err, out)
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("it says %q, want %q", out, want)
				}
			}
		})
	}
}

// TestStoreCheckRows: a fault names table, row and the next step.
func TestStoreCheckRows(t *testing.T) {
	newest := newestSchema(t)
	for statement, want := range map[string]string{
		"UPDATE nodes SET doc = substr(doc, 1, 100) WHERE " +
			"name = 'lived'": "expected the JSON of a node.Node, found unexpected end of JSON input; restore",
		"UPDATE nodes SET provision_state = 'enroll' WHERE " +
			"name = 'lived'": "expected provision_state active, which its document says, found enroll",
		"UPDATE nodes SET doc = json_set(doc, '$.provision_state', 'lost'), " +
			"provision_state = 'lost'": "a provision_state that this build knows, found lost",
		"UPDATE nodes SET doc = json_set(doc, '$.allocation_uuid', 'a') WHERE " +
			"name = 'lived'": "expected the allocation that it names, bound to it, found no such allocation of this node: a",
		"UPDATE nodes SET doc = json_remove(doc, '$.allocation_uuid')": "allocations, row ",
		"DELETE FROM effects":           "the next effect of a node at work, found ",
		"UPDATE effects SET args = '{'": "effects, row ",
		"UPDATE nodes SET deadline = 0, doc = json_remove(doc, '$.deadline') WHERE provision_state " +
			"LIKE '%wait'": "a deadline, or a pending effect",
		"PRAGMA foreign_keys = off; DELETE FROM nodes WHERE " +
			"name = 'lived'": "a row of nodes that it belongs to, found none",
		"UPDATE ports SET doc = json_set(doc, " +
			"'$.address', 5)": "ports, row ",
		"UPDATE history SET doc = ''": "history: expected fewer faults, found more than 50",
		"UPDATE told SET doc = '[]'":  "told, row ",
		"UPDATE inspected SET inventory " +
			"= '{\"a\":'": "inspected, row ",
		"UPDATE leases SET ip " +
			"= 'x' || ip": "leases, row ",
		"UPDATE runbooks SET name " +
			"= 'another'": "runbooks, row ",
		"UPDATE erase_reports SET doc = json_set(doc, '$.signature', '" + strings.Repeat("A", 86) +
			"==')": "erase_reports, row ",
		"UPDATE objects SET doc = x'7b7d7d' WHERE kind = " +
			"'BareMetalHost'": "objects, row BareMetalHost metal3/",
		"UPDATE objects SET doc = x'00' || doc WHERE " +
			"kind = 'Secret'": "sealed with another key, or damaged; restore the key",
		"UPDATE objects SET name = name || 'x' WHERE kind = " +
			"'HardwareData'": "its document is of HardwareData",
		"DELETE FROM objects WHERE kind = " +
			"'Namespace'": "expected its namespace, found no namespace metal3",
		"UPDATE objects_revision SET " +
			"revision = 1": "expected a revision that was given out",
		"DELETE FROM objects_revision":                      "objects_revision: expected one row, found 0 rows",
		"UPDATE nodes SET machine = '' WHERE machine <> ''": "expected machine redfish ",
		"DROP TABLE told": "told: expected the table, which schema " + newest +
			" has, found none",
		"UPDATE nodes SET sealed = (SELECT sealed FROM nodes WHERE name = 'in-active') WHERE " +
			"name = 'in-enroll'": "its sealed values cannot be read: the envelope was changed, or belongs to another record",
		"UPDATE nodes SET sealed = substr(sealed, 1, 20) WHERE " +
			"name = 'in-active'": "expected sealed values that its key opens, found nodes, row ",
		"UPDATE volume_targets SET sealed = substr(sealed, 1, " +
			"50)": "volume_targets, row ",
		"UPDATE goose_db_version SET version_id = 99 WHERE " +
			"version_id = 16": "found version 99; check it with the newer build that wrote it",
	} {
		t.Run(statement, func(t *testing.T) {
			t.Parallel()
			dir := migrated(t)
			changeRows(t, dir, statement)
			out, err := storeCheckOf(t, dir)
			if err == nil || !strings.Contains(out, want) || strings.Contains(out, "store: ok") {
				t.Errorf("it ended with %v, want %q: %s", err, want, out)
			}
		})
	}
}

// TestStoreCheckFiles: files that are lost, damaged or in use.
func TestStoreCheckFiles(t *testing.T) {
	remove := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		harm func(t *testing.T, dir string)
		want string
	}{
		"empty folder": {func(t *testing.T, dir string) {
			if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
				t.Fatal(err)
			}
		}, "there is no database in it, and nothing else of a conductor"},
		"no database":    {remove(datafolder.DatabaseFile), "ferrite.db is missing or empty, but "},
		"no secrets key": {remove(keys.SecretsFile), "the key secrets-key.pem is missing"},
		"no erase key":   {remove(keys.EraseReportFile), "the key erase-key.pem is missing"},
		"another key": {func(t *testing.T, dir string) {
			remove(keys.SecretsFile)(t, dir)
			if _, err := keys.OpenSecrets(dir); err != nil {
				t.Fatal(err)
			}
		}, "objects, row Secret metal3/bmc: expected a document that can be read, found a secret that is sealed with " +
			"another key"},
		"sealed with another key": {func(t *testing.T, dir string) {
			remove(keys.SecretsFile)(t, dir)
			if _, err := keys.OpenSecrets(dir); err != nil {
				t.Fatal(err)
			}
		}, "expected the key of secrets with this id, found the one with the id "},
		"not looked into": {remove(keys.SecretsFile),
			"sealed values were not looked into, for want of their key: "},
		"no WAL of a running conductor": {func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, datafolder.RunningFile), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "ferrite.db-wal is not there"},
		"cut short": {func(t *testing.T, dir string) { _ = os.Truncate(filepath.Join(dir, datafolder.DatabaseFile), 40_960) },
			"cut short"},
		"flipped pages": {flipPages, "fault: the file: expected whole pages and indexes, found "},
		"in use": {func(t *testing.T, dir string) {
			unlock, err := datafolder.Lock(dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = unlock() })
		}, "a conductor is running in it: stop it first"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := migrated(t)
			c.harm(t, dir)
			out, err := storeCheckOf(t, dir)
			if err == nil || !strings.Contains(out+err.Error(), c.want) || strings.Contains(out, "store: ok") {
				t.Errorf("it ended with %v, want %q: %s", err, c.want, out)
			}
		})
	}
}

// flipPages inverts the first page of each index, as a bad disk may. The pages of the schema stay whole: without them
// nothing of a file can be read.
func flipPages(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, datafolder.DatabaseFile)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	var list string
	err = errors.Join(db.QueryRowContext(t.Context(),
		"SELECT group_concat(rootpage) FROM sqlite_schema WHERE type = 'index'").Scan(&list), db.Close())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	for number := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		for i := (n - 1) * page; i < n*page; i++ {
			text[i] ^= 0xff
		}
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestStoreCheckRunning: beside a conductor it refuses by name, and in the folder
// that a conductor has left it finds everything whole.
func TestStoreCheckRunning(t *testing.T) {
	dir := t.TempDir()
	c := start(t, dir)
	cmd := StoreCommand()
	cmd.SetOut(new(bytes.Buffer))
	cmd.SetErr(new(bytes.Buffer))
	cmd.SetArgs([]string{"check", "--data-dir", dir})
	if err := cmd.ExecuteContext(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "a conductor is running in it") {
		t.Errorf("beside a conductor: %v", err)
	}
	c.End(t)
	if out, err := storeCheckOf(t, dir); err != nil || !strings.HasSuffix(out, "store: ok\n") {
		t.Errorf("%v: %s", err, out)
	}
}
