package serve

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// eventsOf are the events of a page of lines.
func eventsOf(t *testing.T, page string) (all []nodeapi.Event) {
	t.Helper()
	for line := range strings.Lines(page) {
		var e nodeapi.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

// TestEvents: a node's life is in the events, also after a restart, as lines and as server-sent events.
func TestEvents(t *testing.T) {
	dir := t.TempDir()
	c := start(t, dir)
	n := c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "name": "n1"}, 201)
	id, _ := n["uuid"].(string)
	c.Call(t, "PUT", "/v1/nodes/n1/states/provision", map[string]any{"target": "manage"}, 202)
	c.Until(t, id, "manageable")
	c.Call(t, "POST", "/v1/ports", map[string]any{"node_uuid": id, "address": "52:54:00:00:00:01"}, 201)
	c.Call(t, "POST", "/v1/chassis", map[string]any{"description": "rack"}, 201)
	const path = "/ferrite/v1/events"
	_, page := fetch(t, c.URL+path+"?after=0")
	var states, types []string
	last := ""
	for _, e := range eventsOf(t, page) {
		last = e.Cursor
		types = append(types, e.Type)
		for _, m := range e.Moves {
			states = append(states, m.From+">"+m.To)
		}
	}
	if got := strings.Join(states, " "); got != "enroll>verifying verifying>manageable" {
		t.Errorf("states %s of %v", got, types)
	}
	told := " " + strings.Join(types, " ") + " "
	if !strings.HasPrefix(told, " node.created node.state ") || !strings.HasSuffix(told,
		" node.updated chassis.created ") {
		t.Errorf("types %v", types)
	}
	c.End(t)
	c = start(t, dir)
	defer c.End(t)
	c.Call(t, "DELETE", "/v1/nodes/n1", nil, 204)
	_, page = fetch(t, c.URL+path+"?wait=0&after="+last)
	if all := eventsOf(t, page); len(all) != 1 || all[0].Type != "node.deleted" || all[0].Node.Name != "n1" {
		t.Errorf("after a restart: %s", page)
	}
	if status, text := fetch(t, c.URL+path+"?after=x"); status != 400 || !strings.Contains(text, "no cursor") {
		t.Errorf("a cursor that is none: %d %s", status, text)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Last-Event-ID", last)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	var text []string
	for len(text) < 3 && lines.Scan() {
		text = append(text, lines.Text())
	}
	if answer.Header.Get("Content-Type") != "text/event-stream" || len(text) != 3 || !strings.HasPrefix(text[0], "id: ") ||
		text[1] != "event: node.deleted" || !strings.HasPrefix(text[2], `data: {"cursor":"`) {
		t.Errorf("server-sent events: %s %q", answer.Header.Get("Content-Type"), text)
	}
}

// TestWebhooks: a receiver gets the changes of a node, also those that were committed while it was away and the
// conductor was started anew.
func TestWebhooks(t *testing.T) {
	taken := make(chan string, 100)
	var away atomic.Bool
	away.Store(true)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var e struct{ Type, Subject string }
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil || r.Header.Get("Webhook-Signature") == "" {
			t.Errorf("%v, %v", err, r.Header)
		}
		if away.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		taken <- e.Type
	}))
	defer receiver.Close()
	dir := t.TempDir()
	file, secret := filepath.Join(dir, "hooks.yaml"), filepath.Join(dir, "secret")
	for path, text := range map[string]string{secret: "a secret of this test", file: "- name: a\n  url: " + receiver.URL +
		"\n  secret_file: " + secret + "\n  types: [node.created, node.deleted]\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(dir, "data")
	args := []string{"--webhooks", file, "--webhook-allow", "127.0.0.1"}
	c := start(t, data, args...)
	c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "name": "n1"}, 201)
	c.End(t)
	c = start(t, data, args...)
	defer c.End(t)
	away.Store(false)
	c.Call(t, "DELETE", "/v1/nodes/n1", nil, 204)
	for _, want := range []string{"metal.ferrite.node.created", "metal.ferrite.node.deleted"} {
		select {
		case got := <-taken:
			if got != want {
				t.Errorf("the receiver got %s, want %s", got, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("the receiver did not get %s:\n%s", want, c.Log.String())
		}
	}
}

// TestDocumentEvents: hosts and their documents have events on the stream of nodes, without any value of theirs.
func TestDocumentEvents(t *testing.T) {
	c := start(t, t.TempDir(), "--auth", "none")
	defer c.End(t)
	c.Call(t, "POST", servetest.SecretsPath, map[string]any{"kind": "Secret", "apiVersion": "v1",
		"metadata": map[string]any{"name": "bmc"}, "stringData": map[string]any{"username": "planted-user",
			"password": "planted-word"}}, http.StatusCreated)
	c.Call(t, "POST", servetest.HostsPath, map[string]any{"kind": hostapi.KindHost, "apiVersion": hostapi.APIVersion,
		"metadata": map[string]any{"name": "one"}, "spec": map[string]any{"online": true, "inspectionMode": "fast",
			"bootMACAddress": "52:54:00:00:00:01",
			"bmc":            map[string]any{"address": "fake://one", "credentialsName": "bmc"}}}, http.StatusCreated)
	node := ""
	for end := time.Now().Add(servetest.Patience); ; time.Sleep(10 * time.Millisecond) {
		_, text, err := c.Send("GET", servetest.HostPath, nil)
		var h hostapi.Host
		if err != nil || json.Unmarshal(text, &h) != nil || time.Now().After(end) {
			t.Fatalf("%v: %s", err, text)
		}
		if node = h.Status.Provisioning.ID; servetest.IsDone(h, hostapi.StateAvailable) {
			break
		}
	}
	c.Call(t, "PATCH", servetest.HostPath, servetest.MergePatch{"spec": map[string]any{"online": false},
		"metadata": map[string]any{"labels": map[string]any{"rack": "r7"}}}, http.StatusOK)
	_, page := fetch(t, c.URL+"/ferrite/v1/events?after=0&type=host,document")
	var states, types []string
	for _, e := range eventsOf(t, page) {
		d := e.Document
		if d == nil || d.UID == "" || e.At == "" {
			t.Fatalf("an event without a document: %+v", e)
		}
		types = append(types, e.Type+" "+d.Kind+" "+d.Namespace+"/"+d.Name)
		for _, m := range e.Moves {
			states = append(states, m.To)
		}
		if e.Type == "host.updated" && slices.Contains(e.Changed, "spec.online") {
			if got := strings.Join(e.Changed, " "); got != "metadata.labels spec.online" {
				t.Errorf("the PATCH changed %s", got)
			}
		}
	}
	if got := strings.Join(states, " "); got != "registering inspecting preparing available" {
		t.Errorf("states %s of\n%s", got, page)
	}
	for _, want := range []string{"document.created Secret metal3/bmc", "host.created BareMetalHost metal3/one",
		"document.created HardwareData metal3/one", "document.updated Secret metal3/bmc"} {
		if !slices.Contains(types, want) {
			t.Errorf("no %s in %v", want, types)
		}
	}
	if strings.Contains(page, "planted") || strings.Contains(page, "r7") {
		t.Errorf("an event has a value:\n%s", page)
	}
	_, page = fetch(t, c.URL+"/ferrite/v1/events?after=0&wait=0&node="+node)
	if !strings.Contains(page, `"type":"host.state"`) || !strings.Contains(page, `"type":"node.state"`) {
		t.Errorf("the events of the node have not those of its host:\n%s", page)
	}
}
