package kube_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/kube"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
)

// watcher reads a watch over a real connection.
type watcher struct {
	t     *testing.T
	lines *bufio.Scanner
	leave context.CancelFunc
}

// watch begins a watch of hosts.
func (s *server) watch(t *testing.T, query string, header http.Header) *watcher {
	t.Helper()
	return s.watchAt(t, hosts, query, header)
}

func (s *server) watchAt(t *testing.T, path, query string, header http.Header) *watcher {
	t.Helper()
	srv := httptest.NewServer(s.mux)
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+path+"?watch=true&"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	res, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{t: t, lines: bufio.NewScanner(res.Body), leave: leave}
	t.Cleanup(func() { leave(); _ = res.Body.Close(); srv.Close() })
	if res.StatusCode != http.StatusOK {
		t.Fatalf("the watch is answered with %d", res.StatusCode)
	}
	return w
}

// next is the next event: "ADDED n0 3". ok is false at the end.
func (w *watcher) next() (what string, raw []byte, ok bool) {
	w.t.Helper()
	if !w.lines.Scan() {
		return "", nil, false
	}
	var e struct {
		Type   string
		Object struct {
			Code     int
			Metadata struct{ Name, ResourceVersion string }
		}
	}
	raw = w.lines.Bytes()
	if err := json.Unmarshal(raw, &e); err != nil {
		w.t.Fatal(err)
	}
	if e.Object.Code != 0 {
		return fmt.Sprintf("%s %d", e.Type, e.Object.Code), raw, true
	}
	return fmt.Sprintf("%s %s %s", e.Type, e.Object.Metadata.Name, e.Object.Metadata.ResourceVersion), raw, true
}

func (w *watcher) wants(events ...string) {
	w.t.Helper()
	for _, want := range events {
		if got, _, ok := w.next(); !ok || got != want {
			w.t.Fatalf("got %q, want %q", got, want)
		}
	}
}

// TestWatch follows hosts, from a revision or from the present ones, by labels and by name.
func TestWatch(t *testing.T) {
	s := start(t)
	s.ok(http.StatusCreated, "POST "+hosts, `{"metadata":{"name":"n0","labels":{"a":"b"}},"spec":{"online":true}}`)
	all := s.watch(t, "resourceVersion=2", nil)
	now := s.watch(t, "", nil)
	labelled := s.watch(t, "labelSelector=a%3Db", nil)
	named := s.watch(t, "fieldSelector=metadata.name%3Dn1", nil)
	now.wants("ADDED n0 3")
	s.ok(http.StatusCreated, "POST "+hosts, `{"metadata":{"name":"n1"},"spec":{"online":true}}`)
	s.ok(http.StatusOK, "PATCH "+hosts+"/n1"+asMerge, `{"metadata":{"labels":{"a":"b"}}}`)
	s.ok(http.StatusOK, "PATCH "+hosts+"/n0"+asMerge, `{"metadata":{"labels":{"a":null}}}`)
	s.ok(http.StatusOK, "DELETE "+hosts+"/n0", "")
	s.ok(http.StatusOK, "DELETE "+hosts+"/n1", "")
	all.wants("ADDED n0 3", "ADDED n1 4", "MODIFIED n1 5", "MODIFIED n0 6", "DELETED n0 7", "DELETED n1 8")
	now.wants("ADDED n1 4", "MODIFIED n1 5", "MODIFIED n0 6", "DELETED n0 7", "DELETED n1 8")
	labelled.wants("ADDED n0 3", "ADDED n1 5", "DELETED n0 6", "DELETED n1 8")
	named.wants("ADDED n1 4", "MODIFIED n1 5", "DELETED n1 8")
	s.ok(http.StatusBadRequest, "GET "+hosts+"?watch=1&resourceVersion=x", "")
	s.ok(http.StatusBadRequest, "GET "+hosts+"?watch=1&timeoutSeconds=x", "")
}

// TestWatchOfChanged: a document that changes while a watch reads the first ones comes once, and never again as it was.
func TestWatchOfChanged(t *testing.T) {
	s := start(t)
	const many = 64 // of 250 kB: more than a connection holds before it is read
	for i := range many {
		s.ok(http.StatusCreated, "POST "+hosts, fmt.Sprintf(`{"metadata":{"name":"n%02d","annotations":{"a":%q}},`+
			`"spec":{"online":true}}`, i, strings.Repeat("x", 250_000)))
	}
	w := s.watch(t, "", nil)
	s.ok(http.StatusOK, "PATCH "+hosts+"/n63"+asMerge, `{"metadata":{"labels":{"a":"b"}}}`)
	s.ok(http.StatusOK, "PATCH "+hosts+"/n63"+asMerge, `{"metadata":{"labels":{"a":"c"}}}`)
	w.lines.Buffer(nil, 1<<20)
	for range many - 1 {
		if what, _, ok := w.next(); !ok || !strings.HasPrefix(what, "ADDED n") {
			t.Fatalf("got %q", what)
		}
	}
	last := fmt.Sprint(many + 4) // the namespace has the first revisions
	w.wants("ADDED n63 " + last)
	s.ok(http.StatusOK, "DELETE "+hosts+"/n63", "")
	w.wants("DELETED n63 " + fmt.Sprint(many+5))
}

// TestWatchEnds when its time is over, with a bookmark for whoever wants one.
func TestWatchEnds(t *testing.T) {
	s := start(t)
	w := s.watch(t, "timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=1", nil)
	w.wants("BOOKMARK  1")
	if got, _, ok := w.next(); ok {
		t.Errorf("more: %s", got)
	}
	w = s.watch(t, "timeoutSeconds=1&resourceVersion=1", nil)
	if got, _, ok := w.next(); ok {
		t.Errorf("more: %s", got)
	}
}

// TestWatchExpires: a watch that begins too far back is answered 410, and a watch that falls behind gets that error. A
// client that lists anew carries on from there.
func TestWatchExpires(t *testing.T) {
	s := start(t, func(_ *kube.Options, c *objects.Config) { c.Events = 2 })
	behind := s.watch(t, "resourceVersion=1", nil)
	for i := range 5 {
		s.ok(http.StatusCreated, "POST "+hosts, fmt.Sprintf(`{"metadata":{"name":"n%d"},"spec":{"online":true}}`, i))
	}
	last := ""
	for last != "ADDED n4 7" && last != "ERROR 410" { // it may have seen all of them in time
		what, _, ok := behind.next()
		if !ok {
			t.Fatalf("it ends behind %q", last)
		}
		last = what
	}
	w := s.send("GET "+hosts+"?watch=true&resourceVersion=1", "")
	if w.Code != http.StatusGone {
		t.Errorf("answered %d: %s", w.Code, w.Body)
	}
	var l struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := json.Unmarshal([]byte(s.ok(http.StatusOK, "GET "+hosts, "")), &l); err != nil {
		t.Fatal(err)
	}
	again := s.watch(t, "resourceVersion="+l.Metadata.ResourceVersion, nil)
	s.ok(http.StatusOK, "DELETE "+hosts+"/n0", "")
	again.wants("DELETED n0 8")
}

// TestWatchGivesWay: a watch ends with a 429 when another reader gets its place. client-go waits then, and watches on.
// A watch that finds no place gets the same answer.
func TestWatchGivesWay(t *testing.T) {
	for _, path := range []string{hosts, "/api/v1/events"} {
		pool := connlimit.NewStreams(connlimit.StreamLimits{All: 1, Loopback: 2}, nil)
		if _, err := pool.Open(connlimit.Reader{User: "eve"}, func(error) {}); err != nil {
			t.Fatal(err)
		}
		s := start(t, func(o *kube.Options, _ *objects.Config) { o.Streams = pool })
		w := s.watchAt(t, path, "resourceVersion=1", nil)
		s.watchAt(t, path, "resourceVersion=1", nil)
		if _, err := pool.Open(connlimit.Reader{User: "bob", Local: true}, func(error) {}); err != nil {
			t.Fatal(err)
		}
		w.wants("ERROR 429")
		if got, _, ok := w.next(); ok {
			t.Errorf("%s: more: %s", path, got)
		}
		full := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path+"?watch=true&resourceVersion=1", nil)
		full.RemoteAddr = "127.0.0.1:1"
		answer := httptest.NewRecorder()
		s.mux.ServeHTTP(answer, full)
		if answer.Code != http.StatusTooManyRequests || answer.Header().Get("Retry-After") == "" {
			t.Errorf("%s: one more watch: %d %v %s", path, answer.Code, answer.Header(), answer.Body)
		}
	}
}

// onFirst is a client that does something at its first line.
type onFirst struct {
	*httptest.ResponseRecorder
	once sync.Once
	do   func()
}

func (w *onFirst) Write(p []byte) (int, error) {
	w.once.Do(w.do)
	return w.ResponseRecorder.Write(p)
}

// TestWatchEndsAmidItsBeginning: the first documents of a watch may be long, and end with it: when another reader gets
// its place, or its own reader leaves.
func TestWatchEndsAmidItsBeginning(t *testing.T) {
	pool := connlimit.NewStreams(connlimit.StreamLimits{All: 2}, nil)
	s := start(t, func(o *kube.Options, _ *objects.Config) { o.Streams = pool })
	for i := range 5 {
		s.ok(http.StatusCreated, "POST "+hosts, fmt.Sprintf(`{"metadata":{"name":"n%d"},"spec":{"online":true}}`, i))
	}
	ctx, leaves := context.WithCancel(t.Context())
	end := map[string]func(){"another reader": func() {
		for _, user := range []string{"192.0.2.1", "bob"} {
			leave, err := pool.Open(connlimit.Reader{User: user}, func(error) {})
			if err != nil {
				t.Fatal(err)
			}
			defer leave()
		}
	}, "left": leaves}
	for _, why := range slices.Sorted(maps.Keys(end)) {
		w := &onFirst{ResponseRecorder: httptest.NewRecorder(), do: end[why]}
		s.mux.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, hosts+"?watch=true&timeoutSeconds=1", nil))
		if n := strings.Count(w.Body.String(), "ADDED"); n != 1 {
			t.Errorf("%s: %d documents are sent, want the one that was on its way:\n%s", why, n, w.Body)
		}
	}
}

// TestWatchAhead: a watch from a revision after the newest, of a database that has been restored since, would miss
// events until that revision is reached again.
func TestWatchAhead(t *testing.T) {
	s := start(t)
	for _, path := range []string{hosts, secrets} {
		if w := s.send("GET "+path+"?watch=true&timeoutSeconds=1&resourceVersion=99", ""); w.Code != http.StatusGone {
			t.Errorf("answered %d: %s", w.Code, w.Body)
		}
	}
}

// TestWatchTable: each event is a table of one row for whoever wants tables.
func TestWatchTable(t *testing.T) {
	s := start(t)
	s.ok(http.StatusCreated, "POST "+hosts, aHost)
	w := s.watch(t, "", http.Header{"Accept": {"application/json;as=Table;v=v1;g=meta.k8s.io"}})
	_, raw, _ := w.next()
	var e struct {
		Object struct {
			Kind string
			Rows []struct{ Cells []any }
		}
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	if e.Object.Kind != "Table" || len(e.Object.Rows) != 1 || e.Object.Rows[0].Cells[0] != "node-0" {
		t.Errorf("got %s", raw)
	}
}
