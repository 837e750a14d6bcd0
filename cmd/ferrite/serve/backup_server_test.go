//go:build !nooperate

package serve

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// TestBackupOfACluster: the backup of a cluster at work is restored into a data folder, and into PostgreSQL for another
// cluster, with its secrets. Each conductor of that holds still, whoever leads, until one of them is asked to resume.
func TestBackupOfACluster(t *testing.T) {
	t.Parallel()
	database, key := postgrestest.URL(t), clusterKey(t, "0123456789")
	file, phrase := filepath.Join(t.TempDir(), "ferrite.backup"), passphraseFile(t, testPassphrase)
	first := startMember(t, "first", database, key)
	ready(t, first)
	second := startMember(t, "second", database, key)
	ready(t, second)
	second.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "name": "n1",
		"driver_info": map[string]any{"redfish_password": "planted-word"}}, http.StatusCreated)
	args := []string{"--database", database, "--data-dir", t.TempDir(), "--passphrase-file", phrase}
	for _, tc := range []struct {
		more []string
		want string
	}{
		{nil, "--cluster-key-file"},
		{[]string{"--cluster-key-file", clusterKey(t, "another one")}, "not the key of this cluster"},
		{[]string{"--cluster-key-file", key, "--logs"}, "--logs"},
	} {
		said, err := saving(t, quickBackup(), append(append([]string{file}, args...), tc.more...)...)
		if _, there := os.Stat(file); err == nil || !strings.Contains(err.Error(), tc.want) || there == nil {
			t.Errorf("%v: %v, want %s: %s", tc.more, err, tc.want, said)
		}
	}
	said, err := saving(t, quickBackup(), append([]string{file, "--cluster-key-file", key}, args...)...)
	if err != nil {
		t.Fatal(said, err)
	}
	_, err = saving(t, RestoreCommand(), file, "--database", database, "--data-dir", filepath.Join(t.TempDir(), "d"),
		"--passphrase-file", phrase)
	if err == nil || !strings.Contains(err.Error(), "empty database") {
		t.Errorf("restored over a cluster: %v", err)
	}
	second.End(t)
	first.End(t)

	folder := filepath.Join(t.TempDir(), "folder")
	if said, err := saving(t, RestoreCommand(), file, "--data-dir", folder, "--passphrase-file", phrase); err != nil {
		t.Fatal(said, err)
	}
	inStore(t, folder, func(ctx context.Context, s *store.Database) {
		n, err := s.Node(ctx, "n1")
		if err != nil || n.DriverInfo["redfish_password"] != "planted-word" {
			t.Errorf("in the folder: %v, %v", n.DriverInfo, err)
		}
	})
	checked(t, folder)

	another := postgrestest.URL(t)
	dir := filepath.Join(t.TempDir(), "third")
	said, err = saving(t, RestoreCommand(), file, "--database", another, "--data-dir", dir, "--passphrase-file", phrase)
	if err != nil || !strings.Contains(said, "ferrite server resume") {
		t.Fatal(said, err)
	}
	for name, want := range map[string]bool{datafolder.DatabaseFile: false, keys.SecretsFile: true,
		keys.EraseReportFile: true} {
		if (datafolder.Folder{Dir: dir}).Has(name) != want {
			t.Errorf("%s is in the folder: %t", name, !want)
		}
	}
	restoredCluster(t, another, dir)
}

// restoredCluster starts a cluster on a restored database. Its first conductor has the database's keys.
func restoredCluster(t *testing.T, database, dir string) {
	t.Helper()
	key := clusterKey(t, "of the restored one")
	third := &conductor{}
	args := []string{"--database", database, "--cluster-key-file", key, "--host", "third"}
	if err := third.Begin(Command(), dir, args...); err != nil {
		t.Fatalf("%v\n%s", err, third.Log)
	}
	ready(t, third)
	fourth := startMember(t, "fourth", database, key)
	ready(t, fourth)
	verb := func(c *conductor, status int) string {
		return fmt.Sprint(c.Call(t, "PUT", "/v1/nodes/n1/states/provision", map[string]any{"target": "manage"}, status))
	}
	held := func(c *conductor, want bool) {
		t.Helper()
		if hold := c.Call(t, "GET", "/ferrite/v1/hold", nil, http.StatusOK); hold["held"] != want {
			t.Errorf("%s is held: %v, want %t", c.URL, hold["held"], want)
		}
	}
	for _, c := range []*conductor{third, fourth} {
		held(c, true)
		if answer := verb(c, http.StatusServiceUnavailable); !strings.Contains(answer, "ferrite server resume") {
			t.Errorf("the refusal of a verb is %s", answer)
		}
	}
	third.End(t) // another leader holds still, too
	answers(t, fourth)
	held(fourth, true)
	verb(fourth, http.StatusServiceUnavailable)
	fifth := startMember(t, "fifth", database, key)
	ready(t, fifth)
	fifth.Call(t, "PUT", "/ferrite/v1/hold", map[string]any{"held": false}, http.StatusNoContent)
	held(fourth, false)
	verb(fourth, http.StatusAccepted)
	fourth.Until(t, "n1", "manageable")
	fourth.End(t)
	answers(t, fifth)
	held(fifth, false)
	fifth.End(t)
}

// answers waits until a conductor answers, itself or by a leader: it may not know yet that the last one has ended.
func answers(t *testing.T, c *conductor) {
	t.Helper()
	for end := time.Now().Add(servetest.Patience); ; time.Sleep(20 * time.Millisecond) {
		status, text, err := c.Send(http.MethodGet, "/ferrite/v1/hold", nil)
		if err == nil && status == http.StatusOK {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no answer: %d %s %v\n%s", status, text, err, c.Log)
		}
	}
}
