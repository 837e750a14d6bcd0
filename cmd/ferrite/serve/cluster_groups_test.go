package serve

import (
	"crypto/tls"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/server/certificate/certtest"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// TestClusterGroups: each group has its leader, any conductor answers for all, and a conductor that has no
// certificate of its own has the cluster's.
func TestClusterGroups(t *testing.T) {
	t.Parallel()
	database, key := postgrestest.URL(t), clusterKey(t, "0123456789")
	chain, private := certtest.New(t).Server("127.0.0.1")
	cert, keyFile := certtest.Write(t, t.TempDir(), chain, private)
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // 127.0.0.1
	client := &http.Client{Transport: transport}
	begin := func(name string, args ...string) *conductor {
		t.Helper()
		c := &conductor{HTTP: client}
		args = append([]string{"--database", database, "--cluster-key-file", key, "--host", name}, args...)
		if err := c.Begin(Command(), filepath.Join(t.TempDir(), name), args...); err != nil {
			t.Fatalf("%v\n%s", err, c.Log)
		}
		ready(t, c)
		return c
	}
	defaults := begin("main", "--tls-cert", cert, "--tls-key", keyFile)
	rack := begin("rack", "--group", "rack-a")
	defer func() {
		rack.End(t)
		defaults.End(t)
		client.CloseIdleConnections()
	}()
	if !strings.HasPrefix(rack.URL, "https://") {
		t.Errorf("the API of the second is at %s", rack.URL)
	}
	for name, tc := range map[string]struct {
		asked      *conductor
		group, led string
	}{"far": {defaults, "rack-a", "rack"}, "near": {rack, "", "main"}} {
		tc.asked.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "name": name,
			"conductor_group": tc.group}, http.StatusCreated)
		tc.asked.Call(t, "PUT", "/v1/nodes/"+name+"/states/provision", map[string]any{"target": "manage"},
			http.StatusAccepted)
		if n := tc.asked.Until(t, name, "manageable"); n["conductor"] != tc.led {
			t.Errorf("%s is led by %v, want %s", name, n["conductor"], tc.led)
		}
	}
	for _, c := range []*conductor{defaults, rack} {
		list, _ := c.Call(t, "GET", "/v1/nodes", nil, http.StatusOK)["nodes"].([]any)
		if len(list) != 2 {
			t.Errorf("%s lists %d nodes", c.URL, len(list))
		}
	}
	checkOneStream(t, client, defaults, rack)
	// No conductor would manage a node of a group without a conductor.
	status, text, err := defaults.Send(http.MethodPost, "/v1/nodes", map[string]any{"driver": "fake-hardware",
		"conductor_group": "nowhere"})
	if err != nil || status != http.StatusBadRequest || !strings.Contains(string(text), "nowhere") {
		t.Errorf("in a group without a conductor: %d %s %v", status, text, err)
	}
	// Moved, a node is the other leader's.
	rack.Call(t, "PATCH", "/v1/nodes/far", []any{map[string]any{"op": "replace", "path": "/conductor_group", "value": ""}},
		http.StatusOK)
	rack.Call(t, "PUT", "/v1/nodes/far/states/provision", map[string]any{"target": "provide"}, http.StatusAccepted)
	began := time.Now()
	if n := rack.Until(t, "far", "available"); n["conductor"] != "main" {
		t.Errorf("moved, it is led by %v", n["conductor"])
	}
	if took := time.Since(began); took > servetest.Patience/2 {
		t.Errorf("a moved node took %s", took)
	}
}
