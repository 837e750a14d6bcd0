package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
)

// watched is a server with a list and a script of watches, one for each watch request.
type watched struct {
	t       *testing.T
	mu      sync.Mutex
	lists   []string
	watches []func(w http.ResponseWriter, r *http.Request)
}

func (s *watched) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	var serve func(w http.ResponseWriter, r *http.Request)
	switch watch := r.URL.Query().Get("watch") == "true"; {
	case watch && len(s.watches) > 0:
		serve, s.watches = s.watches[0], s.watches[1:]
	case !watch && len(s.lists) > 0:
		text := s.lists[0]
		s.lists = s.lists[1:]
		serve = func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
	}
	s.mu.Unlock()
	if serve == nil {
		s.t.Errorf("nobody expected %s", r.URL)
		return
	}
	serve(w, r)
}

// from is a watch that must go on from a revision.
func (s *watched) from(revision string, events func(w http.ResponseWriter)) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		if got := r.URL.Query().Get("resourceVersion"); got != revision {
			s.t.Errorf("a watch goes on from %s, want %s", got, revision)
		}
		events(w)
	}
}

func send(w http.ResponseWriter, kind, object string) {
	fmt.Fprintf(w, `{"type":%q,"object":%s}`+"\n", kind, object)
	_ = http.NewResponseController(w).Flush()
}

func listOf(revision string, docs ...string) string {
	return fmt.Sprintf(`{"kind":"BareMetalHostList","metadata":{"resourceVersion":%q},"items":[%s]}`, revision,
		strings.Join(docs, ","))
}

func doc(name, revision string) string {
	return fmt.Sprintf(`{"kind":"BareMetalHost","metadata":{"name":%q,"namespace":"default","resourceVersion":%q}}`,
		name, revision)
}

const expired = `{"kind":"Status","status":"Failure","reason":"Expired","message":"too old resource version","code":410}`

// TestWatchGoesOn: connections that are lost, revisions that are too old and
// servers that are away for a while cost no change.
func TestWatchGoesOn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := &watched{
		t: t, lists: []string{listOf("10", doc("a", "9")), listOf("20", doc("a", "11"), doc("b", "20")),
			listOf("21", doc("a", "11"), doc("b", "20"))},
	}
	s.watches = []func(http.ResponseWriter, *http.Request){
		s.from("10", func(w http.ResponseWriter) { send(w, "MODIFIED", doc("a", "11")); panic(http.ErrAbortHandler) }),
		s.from("11", func(w http.ResponseWriter) { send(w, "ERROR", expired) }),
		s.from("20", func(w http.ResponseWriter) { w.WriteHeader(http.StatusGone); fmt.Fprint(w, expired) }),
		s.from("21", func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }),
		s.from("21", func(w http.ResponseWriter) { send(w, "BOOKMARK", doc("", "30")) }), // its time is over
		s.from("30", func(w http.ResponseWriter) { send(w, "DELETED", doc("b", "31")); panic(http.ErrAbortHandler) }),
		s.from("31", func(http.ResponseWriter) { cancel() }),
	}
	srv := httptest.NewServer(s)
	defer srv.Close()
	var out bytes.Buffer
	stderr, code := ferrite(ctx, srv.URL, &out, "host", "get", "-w", "-o", "name")
	const want = "a\na\nb\nb\n"
	got := strings.ReplaceAll(out.String(), "baremetalhost.metal3.io/", "")
	if d := cmp.Diff(want, got); d != "" || code != 0 {
		t.Errorf("exit %d, shown (-want +got):\n%s\n%s", code, d, stderr)
	}
	if !strings.Contains(stderr, "the connection was lost") {
		t.Errorf("nothing was said of the connection:\n%s", stderr)
	}
}

// TestWatchEnds: a permanent error ends a watch.
func TestWatchEnds(t *testing.T) {
	s := &watched{t: t, lists: []string{listOf("10")}}
	s.watches = []func(http.ResponseWriter, *http.Request){s.from("10", func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind":"Status","message":"bob may not"}`)
	})}
	srv := httptest.NewServer(s)
	defer srv.Close()
	if stderr, code := ferrite(t.Context(), srv.URL, io.Discard, "host", "get", "-w"); code != int(exit.Refused) ||
		!strings.Contains(stderr, "ferrite: bob may not") {
		t.Errorf("exit %d:\n%s", code, stderr)
	}
}

// TestWatchRows: rows of the server's table come as they change.
func TestWatchRows(t *testing.T) {
	l := newLooked(t)
	if _, code := ferrite(t.Context(), l.URL, io.Discard, "host", "apply",
		"-f", writeFile(t, hostFile("old"))); code != 0 {
		t.Fatal("the host was not applied")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	ended := make(chan int)
	go func() {
		_, code := ferrite(ctx, l.URL, w, "host", "get", "-w")
		w.Close()
		ended <- code
	}()
	lines := bufio.NewScanner(r)
	next := func() string {
		if !lines.Scan() {
			t.Fatal("the watch ended early")
		}
		return strings.Join(strings.Fields(lines.Text())[:3], " ")
	}
	got := []string{next(), next()}
	for _, state := range []string{"registering", "inspecting"} {
		if err := become(l.keeper, "worker-0", "{status: {operationalStatus: OK, provisioning: {state: "+state+
			"}}}"); err != nil {
			t.Fatal(err)
		}
		got = append(got, next())
	}
	cancel()
	if d := cmp.Diff([]string{"NAME STATE CONSUMER", "worker-0 true 0s", "worker-0 registering true",
		"worker-0 inspecting true"}, ageless(got)); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	if code := <-ended; code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
}

// ageless are the rows without ages that depend on the test's speed.
func ageless(rows []string) []string {
	for i, r := range rows {
		if strings.HasPrefix(r, "worker-0 true ") {
			rows[i] = "worker-0 true 0s"
		}
	}
	return rows
}
