package traces_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/signals/traces"
	"github.com/ferrite-metal/ferrite/conductor/extras/signals/traces/tracestest"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

func certificate(s *httptest.Server) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

// logged is a log that tests read.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// tracer makes a tracer that sends to an endpoint.
func tracer(t *testing.T, endpoint, headers, ca string) (*traces.Tracer, *logged) {
	t.Helper()
	to, err := traces.NewTarget(endpoint, headers, ca)
	if err != nil {
		t.Fatal(err)
	}
	log := &logged{}
	return traces.New(traces.Config{Target: to, Conductor: "one", Version: "9", LastWords: 500 * time.Millisecond,
		Log: slog.New(slog.NewTextHandler(log, nil))}), log
}

const uuid = "11111111-2222-4333-8444-555555555555"

// runs has a node go through a run without steps: a root and two decisions.
func runs(tr *traces.Tracer, generation int64) {
	at := time.Now()
	was := node.Node{UUID: uuid, Name: "rack-1", ProvisionState: node.Available}
	is := was
	is.ProvisionState, is.Run = node.Deploying, &node.Run{Activity: "deploy", Generation: generation, Since: at}
	decided(context.Background(), tr, &node.Change{Was: &was, Save: &is,
		Moves: []node.Transition{*node.Row(node.Available, node.Deploy)}}, is, at, "", "")
	done := is
	done.ProvisionState, done.Run = node.Active, nil
	decided(context.Background(), tr, &node.Change{Was: &is, Save: &done,
		Moves: []node.Transition{*node.Row(node.Deploying, node.Done)}}, done, at, "", "")
}

// spansOfRun is how many spans runs makes.
const spansOfRun = 3

// flush ends a tracer at once.
func flush(tr *traces.Tracer) {
	ctx, end := context.WithCancel(context.Background())
	end()
	tr.Run(ctx)
}

// TestSent: over TLS with the headers of a file, by a collector that is trusted by a file.
func TestSent(t *testing.T) {
	collector := &tracestest.Receiver{}
	s := httptest.NewTLSServer(collector)
	defer s.Close()
	headersFile := file(t, "# login\nAuthorization: Bearer abc\n\nX-Two: a: b\n")
	tr, log := tracer(t, s.URL+"/", headersFile, file(t, certificate(s)))
	runs(tr, 1)
	flush(tr)
	if sent, dropped := tr.Counts(); sent != spansOfRun || dropped != 0 {
		t.Fatalf("%d sent, %d dropped: %s", sent, dropped, log)
	}
	resource, headers, faults := collector.Last()
	if len(faults) > 0 || headers.Get("Authorization") != "Bearer abc" || headers.Get("X-Two") != "a: b" {
		t.Errorf("headers %v, faults %v", headers, faults)
	}
	if resource["service.name"] != "ferrite" || resource["service.instance.id"] != "one" ||
		resource["service.version"] != "9" {
		t.Errorf("resource %v", resource)
	}
	if got, err := tracestest.Tree(collector.Spans(), nil); err != nil ||
		got != "deploy\n  available -> deploying\n  deploying -> active\n" {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestUntrusted: a collector without a trusted certificate gets nothing.
func TestUntrusted(t *testing.T) {
	t.Parallel()
	collector := &tracestest.Receiver{}
	s := httptest.NewUnstartedServer(collector)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.StartTLS()
	defer s.Close()
	tr, log := tracer(t, s.URL, "", "")
	runs(tr, 1)
	flush(tr)
	if sent, dropped := tr.Counts(); sent != 0 || dropped != spansOfRun || len(collector.Spans()) > 0 {
		t.Errorf("%d sent, %d dropped: %s", sent, dropped, log)
	}
}

// TestBadCollectors: a bad collector costs spans at most, which are counted and logged once.
func TestBadCollectors(t *testing.T) {
	t.Parallel()
	answer := func(status int, header, value, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(header, value)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	// partial_success: 2 rejected, "no room"
	const late = "spans were dropped"
	partial := "\x0a\x0b\x08\x02\x12\x07no room"
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		sent    uint64
		log     string
	}{
		"it refuses":            {answer(http.StatusBadRequest, "A", "b", "go away"), 0, "400 Bad Request"},
		"it is at another path": {answer(http.StatusNotFound, "A", "b", ""), 0, "404 Not Found"},
		"it is broken":          {answer(http.StatusInternalServerError, "A", "b", ""), 0, "500 Internal"},
		"it redirects":          {answer(http.StatusFound, "Location", "http://127.0.0.1:1/", ""), 0, "redirects are not"},
		"it is busy":            {answer(http.StatusServiceUnavailable, "Retry-After", "99999999999", ""), 0, late},
		"an odd success":        {answer(http.StatusTeapot-218, "A", "b", ""), spansOfRun, ""},
		"nonsense":              {answer(http.StatusOK, "A", "b", strings.Repeat("\xff", 100_000)), spansOfRun, ""},
		"partly":                {answer(http.StatusOK, "A", "b", partial), 1, "rejected 2 spans: no room"},
		"it hangs up":           {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0, late},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(tc.handler)
			defer s.Close()
			tr, log := tracer(t, s.URL, "", "")
			runs(tr, 1)
			flush(tr)
			if sent, dropped := tr.Counts(); sent != tc.sent || sent+dropped != spansOfRun {
				t.Errorf("%d sent, %d dropped", sent, dropped)
			}
			lines := 0
			if tc.log != "" {
				lines = 1
			}
			if strings.Count(log.String(), "\n") != lines || !strings.Contains(log.String(), tc.log) {
				t.Errorf("the log says %q, want %q", log, tc.log)
			}
		})
	}
}

// TestAway: with a collector that is away, and a collector that never answers, no caller waits and the queue is
// bounded.
func TestAway(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it accepts, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]net.Addr{"silent": silent.Addr(), "away": closed.Addr()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr, log := tracer(t, "http://"+at.String(), "", "")
			ctx, end := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { defer close(done); tr.Run(ctx) }()
			const many = 5000
			began := time.Now()
			for i := range many {
				runs(tr, int64(i+1))
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("%d activities took %s", many, took)
			}
			end()
			select {
			case <-done:
			case <-time.After(10 * time.Second):
				t.Fatal("it does not end")
			}
			if sent, dropped := tr.Counts(); sent != 0 || dropped != many*spansOfRun {
				t.Errorf("%d sent, %d dropped, made %d", sent, dropped, many*spansOfRun)
			}
			if lines := strings.Count(log.String(), "\n"); lines > 2 {
				t.Errorf("%d lines in the log:\n%s", lines, log)
			}
		})
	}
}

// TestComesBack: a collector that was busy for a moment loses nothing.
func TestComesBack(t *testing.T) {
	t.Parallel()
	collector := &tracestest.Receiver{}
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		collector.ServeHTTP(w, r)
	}))
	defer s.Close()
	tr, log := tracer(t, s.URL, "", "")
	ctx, end := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); tr.Run(ctx) }()
	runs(tr, 1)
	if _, err := collector.Await(20*time.Second, uuid, "deploy"); err != nil {
		t.Errorf("%v\n%s", err, log)
	}
	end()
	<-done
	if sent, dropped := tr.Counts(); sent != spansOfRun || dropped != 0 || log.String() != "" {
		t.Errorf("%d sent, %d dropped: %s", sent, dropped, log)
	}
}
