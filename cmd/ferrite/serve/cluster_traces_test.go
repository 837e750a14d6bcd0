package serve

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/extras/signals/traces/tracestest"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// TestForwardedTrace: a request that a member forwards to the leader is one span in the trace of its activity, and
// links to its sender's. The trace stays one when the member takes over.
func TestForwardedTrace(t *testing.T) {
	t.Parallel()
	collector := &tracestest.Receiver{}
	receiver := httptest.NewServer(collector)
	defer receiver.Close()
	database, key := postgrestest.URL(t), clusterKey(t, "0123456789")
	first := startMember(t, "first", database, key, "--traces-endpoint", receiver.URL)
	ready(t, first)
	second := startMember(t, "second", database, key, "--traces-endpoint", receiver.URL)
	defer second.End(t)
	ready(t, second)
	second.Sign = func(r *http.Request) {
		r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	}
	node := "/v1/nodes/" + servetest.NodeUUID
	second.Call(t, "POST", "/v1/nodes", map[string]any{"uuid": servetest.NodeUUID, "name": "rack-1",
		"driver": "fake-hardware", "deploy_interface": "direct"}, 201)
	second.Call(t, "PUT", node+"/states/provision", map[string]any{"target": "manage"}, 202)
	second.Until(t, servetest.NodeUUID, "manageable")
	second.Call(t, "PUT", node+"/states/provision",
		map[string]any{"target": "clean", "clean_steps": []any{servetest.Beat}}, 202)
	second.Until(t, servetest.NodeUUID, "clean wait")
	checkLeader(t, second, "first") // so that both requests were forwarded
	first.End(t)

	checkNode(t, second, node) // as it leads
	var api atomic.Pointer[string]
	api.Store(&second.URL)
	defer servetest.BootRamdisk(t, &api)()
	second.Until(t, servetest.NodeUUID, "manageable")
	spans, err := collector.Await(servetest.Patience, servetest.NodeUUID, "clean")
	if err != nil {
		t.Fatalf("%v\n%s", err, second.Log)
	}
	tree, err := tracestest.Tree(spans, func(s tracestest.Span) string {
		return strings.NewReplacer(":node_ident", ":node", ":id", ":node").Replace(s.Name)
	})
	if diff := cmp.Diff(traceOfClean, tree); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	requests := 0
	for _, s := range spans {
		if s.Kind != "SPAN_KIND_SERVER" {
			continue
		}
		requests++
		if strings.Join(s.Links, " ") != "0af7651916cd43dd8448eb211c80319c/b7ad6b7169203331" {
			t.Errorf("the request links to %v", s.Links)
		}
	}
	if requests != 1 {
		t.Errorf("%d spans of requests, want 1: the member that forwards makes none", requests)
	}
}

// checkNode waits until a conductor answers for a node.
func checkNode(t *testing.T, c *conductor, path string) {
	t.Helper()
	for end := time.Now().Add(servetest.Patience); ; time.Sleep(20 * time.Millisecond) {
		status, text, err := c.Send(http.MethodGet, path, nil)
		if err == nil && status == http.StatusOK {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("GET %s: %d %s %v\n%s", path, status, text, err, c.Log)
		}
	}
}
