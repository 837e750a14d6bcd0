//go:build !nooperate

package serve

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/conductor/extras/operate/backup"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

const testPassphrase = "correct horse battery"

// quickBackup is BackupCommand with a passphrase that is quick to guess.
func quickBackup() *cobra.Command {
	return backupCommand(backup.Source{Now: time.Now, ScryptN: 1 << 14})
}

// saving runs `ferrite server backup` or `ferrite server restore`.
func saving(t *testing.T, c *cobra.Command, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&out)
	c.SilenceErrors = true
	c.SetArgs(args)
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}

// passphraseFile has one; saving takes a second or so to derive the key from it.
func passphraseFile(t *testing.T, passphrase string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "passphrase")
	if err := os.WriteFile(path, []byte(passphrase+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// recorded is the newest recorded data folder.
func recordedDataFolder(t *testing.T) string {
	t.Helper()
	archives, err := filepath.Glob(filepath.Join(recordings, "*.tar.gz"))
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	return unpackRecorded(t, archives[len(archives)-1])
}

// TestBackup: a backup of a running conductor has all that was acknowledged before it began, and is a whole database.
func TestBackup(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	file, phrase := filepath.Join(out, "ferrite.backup"), passphraseFile(t, testPassphrase)
	c := start(t, dir)
	create := func(i int) {
		c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "name": fmt.Sprintf("n%d", i)},
			http.StatusCreated)
	}
	const before = 20
	for i := range before {
		create(i)
	}
	saved := make(chan struct{})
	var writes sync.WaitGroup
	writes.Go(func() {
		for i := before; ; i++ {
			select {
			case <-saved:
				return
			default:
				create(i)
			}
		}
	})
	said, err := saving(t, BackupCommand(), file, "--data-dir", dir, "--passphrase-file", phrase)
	close(saved)
	writes.Wait()
	c.End(t)
	if err != nil || !strings.Contains(said, "restore it with") {
		t.Fatal(said, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the backup: %v, %v", info.Mode(), err)
	}
	if left, err := os.ReadDir(out); err != nil || len(left) != 1 {
		t.Errorf("left beside the backup: %v, %v", left, err)
	}
	to := filepath.Join(t.TempDir(), "data")
	if said, err = saving(t, RestoreCommand(), file, "--data-dir", to, "--passphrase-file", phrase); err != nil {
		t.Fatal(said, err)
	}
	inStore(t, to, func(ctx context.Context, s *store.Database) {
		for i := range before {
			if _, err := s.Node(ctx, fmt.Sprintf("n%d", i)); err != nil {
				t.Error(err)
			}
		}
	})
	checked(t, to)
}

func checked(t *testing.T, dir string) {
	t.Helper()
	c := StoreCommand()
	if said, err := saving(t, c, "check", "--data-dir", dir); err != nil {
		t.Errorf("%v: %s", err, said)
	}
}

// TestBackupRefused: nothing is overwritten, nothing half is left.
func TestBackupRefused(t *testing.T) {
	t.Parallel()
	dir := recordedDataFolder(t)
	phrase, out := passphraseFile(t, testPassphrase), t.TempDir()
	file := filepath.Join(out, "ferrite.backup")
	said, err := saving(t, quickBackup(), file, "--data-dir", dir, "--passphrase-file", phrase, "--logs")
	if err != nil {
		t.Fatal(said, err)
	}
	cut := filepath.Join(out, "cut")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cut, text[:len(text)-100], 0o600); err != nil {
		t.Fatal(err)
	}
	empty, used := t.TempDir(), recordedDataFolder(t)
	for _, c := range []struct {
		name string
		cmd  *cobra.Command
		args []string
		want string
	}{
		{"a file that is there", BackupCommand(), []string{file, "--data-dir", dir, "--passphrase-file", phrase},
			"is there already"},
		{"no database", BackupCommand(), []string{file + "2", "--data-dir", empty, "--passphrase-file", phrase},
			"there is no SQLite database"},
		{"a short passphrase", BackupCommand(), []string{file + "2", "--data-dir", dir, "--passphrase-file",
			passphraseFile(t, "short")}, "expected 12 or more"},
		{"a folder in use", RestoreCommand(), []string{file, "--data-dir", used, "--passphrase-file", phrase},
			"is not empty"},
		{"another passphrase", RestoreCommand(), []string{file, "--data-dir", empty, "--passphrase-file",
			passphraseFile(t, "another passphrase")}, "passphrase does not open it"},
		{"a backup that was cut off", RestoreCommand(), []string{cut, "--data-dir", empty, "--passphrase-file", phrase},
			"cut off or changed"},
		{"no backup", RestoreCommand(), []string{phrase, "--data-dir", empty, "--passphrase-file", phrase},
			"no backup of ferrite"},
	} {
		if said, err := saving(t, c.cmd, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q\n%s", c.name, err, c.want, said)
		}
	}
	// The lock of a restore stays: another one of its name would be another lock.
	for folder, want := range map[string]int{empty: 1, out: 2} {
		if left, err := os.ReadDir(folder); err != nil || len(left) != want {
			t.Errorf("left in %s: %v, %v", folder, left, err)
		}
	}
}

// TestPasswordOfNoDatabase: the file of a password, which cron jobs of all hosts may have, is of no matter without a
// database on a server, and read for one.
func TestPasswordOfNoDatabase(t *testing.T) {
	t.Setenv("FERRITE_DATABASE", "")
	t.Setenv("FERRITE_DATABASE_PASSWORD_FILE", filepath.Join(t.TempDir(), "no-such-file"))
	file, phrase := filepath.Join(t.TempDir(), "ferrite.backup"), passphraseFile(t, testPassphrase)
	from, to := recordedDataFolder(t), t.TempDir()
	said, err := saving(t, quickBackup(), file, "--data-dir", from, "--passphrase-file", phrase)
	if err != nil {
		t.Fatal(said, err)
	}
	if said, err := saving(t, RestoreCommand(), file, "--data-dir", to, "--passphrase-file", phrase); err != nil {
		t.Fatal(said, err)
	}
	const url = "postgres://ferrite@127.0.0.1:1/ferrite"
	for _, c := range []*cobra.Command{BackupCommand(), RestoreCommand()} {
		_, err := saving(t, c, file, "--data-dir", t.TempDir(), "--passphrase-file", phrase, "--database", url)
		if err == nil || !strings.Contains(err.Error(), "--database-password-file: ") {
			t.Errorf("%s with a database: %v", c.Name(), err)
		}
	}
}

// restoredFolder is a data folder with nodes in every state, restored.
func restoredFolder(t *testing.T) string {
	t.Helper()
	file, phrase := filepath.Join(t.TempDir(), "ferrite.backup"), passphraseFile(t, testPassphrase)
	from, to := recordedDataFolder(t), t.TempDir()
	said, err := saving(t, quickBackup(), file, "--data-dir", from, "--passphrase-file", phrase, "--logs")
	if err != nil {
		t.Fatal(said, err)
	}
	if said, err := saving(t, RestoreCommand(), file, "--data-dir", to, "--passphrase-file", phrase); err != nil {
		t.Fatal(said, err)
	}
	checked(t, to)
	return to
}

// lives is each node's state, its deadline and its pending effect with the number of tries.
func lives(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	inStore(t, dir, func(ctx context.Context, s *store.Database) {
		nodes, err := s.Nodes(ctx, node.Query{WithChildren: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range nodes {
			all[n.Name] = fmt.Sprintf("%s %s %s %q", n.ProvisionState, n.PowerState, n.Deadline, n.LastError)
			if pending, err := s.PendingEffect(ctx, n.UUID); err != nil {
				t.Error(err)
			} else if pending != nil {
				all[n.Name] += fmt.Sprint(" ", pending.Name, " ", pending.Attempt)
			}
		}
	})
	return all
}

// TestRestoreHolds: a restored conductor does nothing until it is resumed, after any time and any request. Abandoned
// work does not go on then; all other nodes do.
func TestRestoreHolds(t *testing.T) {
	t.Parallel()
	dir := restoredFolder(t)
	before := lives(t, dir)
	c := start(t, dir, "--sync-power-state-interval", "1s")
	verb := func(status int) map[string]any {
		return c.Call(t, "PUT", "/v1/nodes/lived/states/provision", map[string]any{"target": "deleted"}, status)
	}
	if answer := fmt.Sprint(verb(http.StatusServiceUnavailable)); !strings.Contains(answer, "ferrite server resume") {
		t.Errorf("the refusal of a verb is %s", answer)
	}
	time.Sleep(2500 * time.Millisecond) // of which a conductor that is not held needs a tenth
	hold := c.Call(t, "GET", "/ferrite/v1/hold", nil, http.StatusOK)
	found := map[string]string{}
	for _, n := range hold["nodes"].([]any) {
		n := n.(map[string]any)
		found[fmt.Sprint(n["name"])] = fmt.Sprint(n["dangerous"], n["at_work"], n["findings"])
	}
	for state, info := range node.States {
		if _, listed := found[nodeIn(state)]; (info.Class == node.Working || info.Class == node.Waiting) && !listed {
			t.Errorf("nothing is said of the node in %s", state)
		}
	}
	const erases = "true true [continues to be cleaned: its disks are erased"
	if is := found[nodeIn(node.CleanWait)]; !strings.HasPrefix(is, erases) {
		t.Errorf("of the node in clean wait it says %q", is)
	}
	c.End(t)
	if diff := cmp.Diff(before, lives(t, dir)); diff != "" {
		t.Errorf("changed while effects were held (-before +after):\n%s", diff)
	}

	c = start(t, dir)
	c.Call(t, "PUT", "/ferrite/v1/hold", map[string]any{"held": false, "abandon": []string{nodeIn(node.Cleaning), nodeIn(
		node.CleanWait)}}, http.StatusNoContent)
	if now := c.Call(t, "GET", "/ferrite/v1/hold", nil, http.StatusOK); now["held"] != false {
		t.Errorf("resumed, and held: %v", now)
	}
	for _, name := range []string{nodeIn(node.Cleaning), nodeIn(node.CleanWait)} {
		n := c.Call(t, "GET", "/v1/nodes/"+name, nil, http.StatusOK)
		if n["provision_state"] != string(node.CleanFailed) || !strings.Contains(fmt.Sprint(n["last_error"]), "abandoned") {
			t.Errorf("abandoned: %s is %v: %v", name, n["provision_state"], n["last_error"])
		}
	}
	verb(http.StatusAccepted)
	c.Call(t, "PUT", "/ferrite/v1/hold", map[string]any{"held": false}, http.StatusConflict)
	recordUntil(t, "an effect goes on", func() bool {
		n := c.Call(t, "GET", "/v1/nodes/"+nodeIn(node.Verifying), nil, http.StatusOK)
		return n["provision_state"] != string(node.Verifying)
	})
	c.End(t)
	after := lives(t, dir)
	if maps.Equal(before, after) {
		t.Error("resumed, and nothing went on")
	}
}
