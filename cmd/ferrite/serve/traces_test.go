package serve

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/extras/signals/traces/tracestest"
)

const traceOfClean = `clean
  PUT /v1/nodes/:node/states/provision
  manageable -> cleaning
  step power.power_off
    power.power_off
  step management.set_boot_device
    management.set_boot_device
  step power.power_on
    power.power_on
    boot power on
    cleaning -> clean wait
  step agent.wait_for_heartbeat
    boot lookup
    boot heartbeat
    clean wait -> cleaning
  step agent.get_steps
    agent.get_steps
      agent clean.get_clean_steps
    cleaning -> clean wait
  step deploy.wait
    clean wait -> cleaning
  cleaning -> manageable
`

// TestTraces: a cleaning that two processes of a conductor have carried out is one trace, from the request to the calls
// to the agent; the request links to its sender's trace.
func TestTraces(t *testing.T) {
	collector := &tracestest.Receiver{}
	server := httptest.NewServer(collector)
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "data")
	c := start(t, dir, "--traces-endpoint", server.URL)
	c.Sign = func(r *http.Request) {
		r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	}
	node := "/v1/nodes/" + servetest.NodeUUID
	c.Call(t, "POST", "/v1/nodes", map[string]any{"uuid": servetest.NodeUUID, "name": "rack-1", "driver": "fake-hardware",
		"deploy_interface": "direct"}, 201)
	c.Call(t, "PUT", node+"/states/provision", map[string]any{"target": "manage"}, 202)
	c.Until(t, servetest.NodeUUID, "manageable")
	c.Call(t, "PUT", node+"/states/provision",
		map[string]any{"target": "clean", "clean_steps": []any{servetest.Beat}}, 202)
	c.Until(t, servetest.NodeUUID, "clean wait")
	c.End(t)

	c = start(t, dir, "--traces-endpoint", server.URL)
	defer c.End(t)
	var api atomic.Pointer[string]
	api.Store(&c.URL)
	defer servetest.BootRamdisk(t, &api)()
	c.Until(t, servetest.NodeUUID, "manageable")
	spans, err := collector.Await(servetest.Patience, servetest.NodeUUID, "clean")
	if err != nil {
		t.Fatalf("%v\n%s", err, c.Log)
	}
	tree, err := tracestest.Tree(spans, func(s tracestest.Span) string {
		return strings.NewReplacer(":node_ident", ":node", ":id", ":node").Replace(s.Name)
	})
	if diff := cmp.Diff(traceOfClean, tree); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, s := range spans {
		if s.Kind == "SPAN_KIND_SERVER" &&
			strings.Join(s.Links, " ") != "0af7651916cd43dd8448eb211c80319c/b7ad6b7169203331" {
			t.Errorf("the request links to %v", s.Links)
		}
		if s.Parent == "" && (s.Attrs["ferrite.node.name"] != "rack-1" || s.Attrs["ferrite.resumed"] != "true") {
			t.Errorf("the root says %v", s.Attrs)
		}
	}
	if _, page := fetch(t, c.URL+"/metrics"); !strings.Contains(page, `ferrite_trace_spans_total{outcome="dropped"} 0`) {
		t.Errorf("the metrics do not count spans:\n%s", page)
	}
}

// TestBadTraces: settings that cannot work are refused before anything is made.
func TestBadTraces(t *testing.T) {
	dir := t.TempDir()
	headers := filepath.Join(dir, "headers")
	if err := os.WriteFile(headers, []byte("no header\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no URL":       {[]string{"--traces-endpoint", "collector"}, `--traces-endpoint "collector": expected the http`},
		"bad headers":  {[]string{"--traces-endpoint", "http://[::1]:4318", "--traces-headers-file", headers}, "line 1"},
		"no endpoint":  {[]string{"--traces-headers-file", headers}, "which is missing"},
		"no authority": {[]string{"--traces-endpoint", "https://[::1]", "--traces-ca", dir + "/none"}, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			data := filepath.Join(dir, "data")
			_, err := command(t.Context(), append([]string{"--check", "--data-dir", data}, tc.args...)...)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			if _, err := os.Stat(data); !os.IsNotExist(err) {
				t.Errorf("the data folder was made: %v", err)
			}
		})
	}
}
