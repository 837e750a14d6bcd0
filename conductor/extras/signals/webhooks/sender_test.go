package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// receiving is a receiver inside the test. answer is the status of its answer to a request, by the request's number.
type receiving struct {
	mu     sync.Mutex
	asked  int
	taken  []string // ids of messages it has answered 200
	answer func(asked int) int
	secret []byte
	t      *testing.T
}

func (r *receiving) RoundTrip(q *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.asked++
	status := r.answer(r.asked)
	r.mu.Unlock()
	if status == 0 { // never
		<-q.Context().Done()
		return nil, q.Context().Err()
	}
	id := q.Header.Get("Webhook-Id")
	if want := Signature(r.secret, id, q.Header.Get("Webhook-Timestamp"),
		body); q.Header.Get("Webhook-Signature") != want {
		r.t.Errorf("signature %s, want %s", q.Header.Get("Webhook-Signature"), want)
	}
	if status == 200 {
		r.mu.Lock()
		r.taken = append(r.taken, id)
		r.mu.Unlock()
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Body: http.NoBody, Request: q,
		Header: http.Header{"Location": {"http://127.0.0.1/elsewhere"}}}, nil
}

func (r *receiving) ids() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.taken)
}

func sender(s Store, r *receiving, hooks ...Hook) *Sender {
	return New(Config{Hooks: hooks, Store: s, Client: &http.Client{Transport: r}, Log: slog.New(slog.DiscardHandler),
		Most: 1000})
}

// commit stores events.
func commit(t *testing.T, s *mem.Store, count int) {
	t.Helper()
	for range count {
		if err := s.PutEvents(t.Context(), []node.ChangeEvent{{At: time.Now(), Type: "node.updated", Node: "n",
			Doc: json.RawMessage(`{"type":"node.updated"}`)}}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAtLeastOnce: a receiver that fails half the time, redirects, answers 101 or never, and a conductor that is
// ended again and again: no event is lost, and their order stays.
func TestAtLeastOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count = 200
		s := mem.New()
		r := &receiving{t: t, secret: []byte("a secret of the test"), answer: func(asked int) int {
			return []int{200, 500, 200, 302, 200, 101, 200, 0, 404, 200}[asked%10]
		}}
		h := Hook{Name: "a", URL: "http://receiver.example/x", Format: cloudEvents, From: "oldest", secret: r.secret}
		commit(t, s, count/2)
		for life := 0; len(slices.Compact(slices.Sorted(slices.Values(r.ids())))) < count; life++ {
			if life == 1 {
				commit(t, s, count/2)
			}
			if life > 500 {
				t.Fatalf("%d of %d events after %d lives", len(r.ids()), count, life)
			}
			d := sender(s, r, h)
			if err := d.Open(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, kill := context.WithTimeout(t.Context(), time.Duration(20+life%50)*time.Second)
			d.Run(ctx)
			kill()
		}
		var first []string
		for _, id := range r.ids() {
			if !slices.Contains(first, id) {
				first = append(first, id)
			}
		}
		for i, id := range first {
			if want := fmt.Sprintf("memory-%d", i+1); id != want {
				t.Fatalf("event %d is %s, want %s", i, id, want)
			}
		}
	})
}

// TestNeeded: events are kept for a receiver that does not take them, up to a bound.
func TestNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		r := &receiving{t: t, answer: func(int) int { return 503 }}
		d := sender(s, r, Hook{Name: "a", Format: cloudEvents, From: "oldest"}, Hook{Name: "b", Format: "ironic",
			From: "now"})
		commit(t, s, 5)
		if err := d.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := d.Needed(5); got != 0 {
			t.Errorf("events after %d are needed, want all", got)
		}
		if got := d.Needed(5000); got != 4000 {
			t.Errorf("of 5000 events those after %d are needed, want 4000", got)
		}
		if got := sender(s, r).Needed(5); got >= 0 {
			t.Errorf("without receivers events after %d are needed", got)
		}
	})
}

// TestRedirect: a receiver cannot send the conductor elsewhere, nor be on its loopback unless that is allowed.
func TestRedirect(t *testing.T) {
	reached := 0
	secret := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer secret.Close()
	away := httptest.NewServer(http.RedirectHandler(secret.URL, http.StatusTemporaryRedirect))
	defer away.Close()
	for allow, want := range map[string]string{"": "is not called", "127.0.0.1": "redirects are not followed"} {
		var allowed []string
		if allow != "" {
			allowed = []string{allow}
		}
		policy, err := outbound.New("webhook-allow", allowed)
		if err != nil {
			t.Fatal(err)
		}
		d := New(Config{Store: mem.New(), Client: policy.Client(), Log: slog.New(slog.DiscardHandler)})
		r := receiver{d, Hook{Name: "a", URL: away.URL}, d.Log, 0}
		if err := r.post(t.Context(), &message{id: "1"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("allowed %q: %v, want %q", allow, err, want)
		}
	}
	if reached != 0 {
		t.Error("the redirect was followed")
	}
}

// TestFormats: an event in both formats.
func TestFormats(t *testing.T) {
	said := nodeapi.Event{Type: "node.state", Conductor: "c1",
		Moves: []nodeapi.EventMove{{From: "available", On: "deploy", To: "deploying"}},
		Node:  &nodeapi.EventNode{UUID: "u", Name: "n", State: "deploying", Target: "active"}}
	doc, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	e := node.ChangeEvent{Position: 7, At: time.Unix(1700000000, 0), Type: said.Type, Node: "u", Doc: doc}
	for format, want := range map[string]string{
		"cloudevents": `{"data":` + string(doc) + `,"datacontenttype":"application/json","id":"db-7",` +
			`"source":"/ferrite/db","specversion":"1.0","subject":"u","time":"2023-11-14T22:13:20Z",` +
			`"type":"metal.ferrite.node.state"}`,
		"ironic": `{"event_type":"baremetal.node.provision_set.start","message_id":"db-7","payload":{"ironic_object.data":` +
			`{"conductor_group":"","driver":"","event":"deploy","fault":null,"instance_uuid":null,"last_error":null,` +
			`"maintenance":false,"name":"n","power_state":null,"previous_provision_state":"available",` +
			`"provision_state":"deploying",` +
			`"resource_class":null,"target_provision_state":"active","uuid":"u"},` +
			`"ironic_object.name":"NodeSetProvisionStatePayload",` +
			`"ironic_object.namespace":"ironic","ironic_object.version":"1.0"},"priority":"INFO",` +
			`"publisher_id":"ironic-conductor.c1","timestamp":"2023-11-14 22:13:20.000000"}`,
	} {
		m, err := formats[format]("db", e)
		if err != nil || string(m.body) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", format, err, m.body, want)
		}
	}
	for moves, want := range map[[3]string]string{
		{"deploying", "done", "active"}:          "end",
		{"deploying", "fail", "deploy failed"}:   "error",
		{"verifying", "fail", "enroll"}:          "error",
		{"deploying", "wait", "wait call-back"}:  "success",
		{"clean failed", "manage", "manageable"}: "end",
		{"manageable", "provide", "cleaning"}:    "start",
	} {
		e := nodeapi.Event{Moves: []nodeapi.EventMove{{From: moves[0], On: moves[1], To: moves[2]}}}
		if got := provisionStatus(e); got != want {
			t.Errorf("%v: %s, want %s", moves, got, want)
		}
	}
	if m, err := ironicNotification("db", node.ChangeEvent{Doc: []byte(`{"type":"chassis.created"}`)}); m != nil ||
		err != nil {
		t.Errorf("a notification that Ironic has not: %v, %v", m, err)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("secret", "whsec_YWJjZGVmZ2hpamtsbW5vcA==\n")
	weak := write("weak", "short")
	hooks, err := Read(write("good.yaml",
		"- {name: a, url: 'https://r.example/x', secret_file: "+good+", types: [node]}\n"))
	if err != nil || len(hooks) != 1 || string(hooks[0].secret) != "abcdefghijklmnop" || hooks[0].Format != cloudEvents {
		t.Fatalf("%+v, %v", hooks, err)
	}
	if !hooks[0].wants("node.state") || hooks[0].wants("nodes.state") || hooks[0].wants("port.created") {
		t.Error("the wrong types are wanted")
	}
	for name, tc := range map[string][2]string{
		"no list":        {"name: a", "a list of receivers"},
		"unknown":        {"- {name: a, url: 'http://x', secret: y}", "unknown field"},
		"no name":        {"- {url: 'http://x'}", "name: expected"},
		"no URL":         {"- {name: a, url: 'ftp://x'}", "url: expected"},
		"unknown format": {"- {name: a, url: 'http://x', format: xml}", "cloudevents or ironic"},
		"from nowhere":   {"- {name: a, url: 'http://x', from: then}", "now or oldest"},
		"weak secret":    {"- {name: a, url: 'http://x', secret_file: " + weak + "}", "16 bytes or more"},
		"no secret":      {"- {name: a, url: 'http://x', secret_file: /nope}", "no such file"},
		"twice":          {"- {name: a, url: 'http://x'}\n- {name: a, url: 'http://y'}", "two receivers"},
	} {
		if _, err := Read(write("bad.yaml", tc[0])); err == nil || !strings.Contains(err.Error(), tc[1]) {
			t.Errorf("%s: %v, want %q", name, err, tc[1])
		}
	}
}
