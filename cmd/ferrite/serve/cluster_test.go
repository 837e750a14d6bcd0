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

	"github.com/jackc/pgx/v5"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// clusterKey writes the key of a cluster.
func clusterKey(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cluster-key")
	if err := os.WriteFile(path, []byte(strings.Repeat(text, 48)[:48]), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// ready waits until a conductor can serve or forward.
func ready(t testing.TB, c *conductor) {
	t.Helper()
	for end := time.Now().Add(servetest.Patience); ; time.Sleep(20 * time.Millisecond) {
		status, text, err := c.Send(http.MethodGet, "/readyz", nil)
		if err == nil && status == http.StatusOK {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not ready: %d %s %v\n%s", status, text, err, c.Log)
		}
	}
}

// startMember starts a conductor of a cluster.
func startMember(t testing.TB, name, database, key string, args ...string) *conductor {
	t.Helper()
	c := &conductor{}
	dir := filepath.Join(t.TempDir(), name)
	if err := c.Begin(Command(), dir, append([]string{"--database", database, "--cluster-key-file", key, "--host", name},
		args...)...); err != nil {
		t.Fatalf("%v\n%s", err, c.Log)
	}
	return c
}

// TestCluster: two conductors answer for one set of nodes; when the leader ends in order, the other goes on where it
// was. Whoever does not belong to the cluster is refused.
func TestCluster(t *testing.T) {
	t.Parallel()
	database, key := postgrestest.URL(t), clusterKey(t, "0123456789")
	first := startMember(t, "first", database, key)
	ready(t, first)
	second := startMember(t, "second", database, key, "--agent-api-address", servetest.AnyPort)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("first:\n%s\nsecond:\n%s", first.Log, second.Log)
		}
	})
	ready(t, second)
	n := second.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "name": "n1",
		"driver_info": map[string]any{"redfish_password": "planted-word"}}, http.StatusCreated)
	id := fmt.Sprint(n["uuid"])
	if got := first.Call(t, "GET", "/v1/nodes/n1", nil, http.StatusOK); got["uuid"] != id {
		t.Errorf("the leader shows %v", got)
	}
	beat := map[string]any{"callback_url": "https://192.0.2.1:9999", "agent_token": "wrong", "agent_version": "1"}
	second.Call(t, "POST", "/v1/heartbeat/"+id, beat, http.StatusForbidden)
	apart := &conductor{URL: agentsAddress(second), Log: second.Log}
	apart.Call(t, "GET", "/v1/nodes/n1", nil, http.StatusNotFound)
	apart.Call(t, "POST", "/v1/heartbeat/"+id, beat, http.StatusBadRequest) // the leader's answer to a wrong token

	to := func(c *conductor, verb, state string) {
		t.Helper()
		c.Call(t, "PUT", "/v1/nodes/n1/states/provision", map[string]any{"target": verb}, http.StatusAccepted)
		c.Until(t, id, state)
	}
	to(first, "manage", "manageable")
	to(second, "inspect", "manageable")

	rotate := SecretsCommand()
	rotate.SetArgs([]string{"rotate", "--data-dir", t.TempDir(), "--database", database})
	rotate.SilenceErrors = true
	if err := rotate.Execute(); err == nil || !strings.Contains(err.Error(), "share its key") {
		t.Errorf("secrets rotate ended with %v", err)
	}
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short, []byte("too short"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"without a cluster":  {nil, "another conductor is using the database"},
		"with another key":   {[]string{"--cluster-key-file", clusterKey(t, "abcdefghij")}, "is not the key of this cluster"},
		"with a short key":   {[]string{"--cluster-key-file", short}, "found 9"},
		"with a taken name":  {[]string{"--cluster-key-file", key, "--host", "first"}, "conductor of that name is alive"},
		"a group by itself":  {[]string{"--group", "rack"}, "--cluster-key-file"},
		"a name of no group": {[]string{"--cluster-key-file", key, "--group", "a b"}, "expected letters"},
	} {
		args := append([]string{"--data-dir", t.TempDir(), "--api-address", servetest.AnyPort, "--database", database},
			tc.args...)
		if _, err := command(t.Context(), args...); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("a conductor %s ended with %v", name, err)
		}
	}

	checkLeader(t, second, "first")
	second.Call(t, "PUT", "/ferrite/v1/conductors/nobody/drained", map[string]any{"drained": true}, http.StatusNotFound)
	first.Call(t, "PUT", "/ferrite/v1/conductors/first/drained", map[string]any{"drained": true}, http.StatusNoContent)
	checkLeader(t, first, "second")
	ready(t, second) // which has the nodes to take up first
	second.Call(t, "PUT", "/ferrite/v1/conductors/second/drained", map[string]any{"drained": true}, http.StatusConflict)
	first.Call(t, "PUT", "/ferrite/v1/conductors/first/drained", map[string]any{"drained": false}, http.StatusNoContent)
	ready(t, first)
	second.Call(t, "PUT", "/ferrite/v1/conductors/second/drained", map[string]any{"drained": true}, http.StatusNoContent)
	checkLeader(t, second, "first")
	ready(t, first) // until then it answers 503
	second.Call(t, "PUT", "/ferrite/v1/conductors/second/drained", map[string]any{"drained": false}, http.StatusNoContent)
	ready(t, second)

	first.End(t) // until then it may answer itself
	checkGivenBack(t, database, "first")
	began := time.Now()
	for status := 0; status != http.StatusOK; time.Sleep(10 * time.Millisecond) {
		status, _, _ = second.Send(http.MethodGet, "/v1/nodes/n1", nil)
		if time.Since(began) > servetest.Patience {
			t.Fatalf("nobody took over:\n%s", second.Log)
		}
	}
	t.Logf("takeover in order: %.2f s", time.Since(began).Seconds())
	to(second, "provide", "available")
	to(second, "active", "active")
	second.End(t)
	checkSealed(t, database)
}

// checkGivenBack: a conductor that ended in order has not kept the others waiting for the end of its time.
func checkGivenBack(t *testing.T, database, name string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }() // nothing was written
	var led int
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM leader WHERE holder = $1 AND until > clock_timestamp()",
		name).Scan(&led); err != nil || led > 0 {
		t.Errorf("%s leads %d groups still, %v", name, led, err)
	}
}

// checkLeader waits until a conductor reports that one of the two leads, and no other.
func checkLeader(t testing.TB, c *conductor, want string) {
	t.Helper()
	var leaders []string
	for end := time.Now().Add(servetest.Patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		answer := c.Call(t, "GET", "/ferrite/v1/conductors", nil, http.StatusOK)
		all, _ := answer["conductors"].([]any)
		leaders = nil
		for _, one := range all {
			if m, _ := one.(map[string]any); m["leader"] == true && m["alive"] == true {
				leaders = append(leaders, fmt.Sprint(m["name"]))
			}
		}
		if len(all) == 2 && len(leaders) == 1 && leaders[0] == want {
			return
		}
	}
	t.Fatalf("%v lead, want %s", leaders, want)
}
