package serve

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// changeClusterKey runs the command.
func changeClusterKey(t *testing.T, database, last, next string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := SecretsCommand()
	c.SetArgs([]string{"cluster-key", "--database", database, "--cluster-key-file", last, "--new-cluster-key-file", next})
	c.SilenceErrors = true
	c.SetOut(&out)
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}

// TestClusterKeyChanges: the cluster key is changed while no conductor runs. All that was sealed opens after it, and
// the old key is refused.
func TestClusterKeyChanges(t *testing.T) {
	t.Parallel()
	database := postgrestest.URL(t)
	last, next := clusterKey(t, "0123456789"), clusterKey(t, "abcdefghij")
	c := startMember(t, "first", database, last)
	ready(t, c)
	n := c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware",
		"driver_info": map[string]any{"redfish_password": "planted-word"}}, http.StatusCreated)
	if _, err := changeClusterKey(t, database, last, next); err == nil ||
		!strings.Contains(err.Error(), "another conductor is using the database") {
		t.Errorf("while a conductor runs: %v", err)
	}
	c.End(t)
	for name, tc := range map[string]struct{ last, next, want string }{
		"another key so far": {next, last, "is not the key of this cluster"},
		"no new key":         {last, "", "--cluster-key-file"},
	} {
		if _, err := changeClusterKey(t, database, tc.last, tc.next); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	out, err := changeClusterKey(t, database, last, next)
	if err != nil || !strings.Contains(out, "2 shared keys are sealed") {
		t.Fatalf("%q, %v", out, err)
	}
	_, err = command(t.Context(), "--data-dir", t.TempDir(), "--api-address", servetest.AnyPort,
		"--database", database, "--cluster-key-file", last)
	if err == nil || !strings.Contains(err.Error(), "is not the key of this cluster") {
		t.Errorf("a conductor with the old key: %v", err)
	}
	again := startMember(t, "first", database, next)
	ready(t, again)
	again.Call(t, "GET", "/v1/nodes/"+n["uuid"].(string), nil, http.StatusOK)
	again.End(t)
}
