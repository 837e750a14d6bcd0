package contact

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// recorded is an answer recorded from a real conductor.
func recorded(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "proto", "agentapi", "testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// seen is one request as it reached the server.
type seen struct {
	Request string
	Version string
	ID      string
}

func TestRequestsAreAsRecorded(t *testing.T) {
	var got []seen
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, seen{r.Method + " " + r.URL.String(), r.Header.Get(agentapi.VersionHeader),
			r.Header.Get(agentapi.RequestIDHeader)})
		switch {
		case r.URL.Path == "/":
			_, _ = w.Write(recorded(t, "root"))
		case r.URL.Path == agentapi.LookupPath:
			_, _ = w.Write(recorded(t, "lookup"))
		case strings.HasPrefix(r.URL.Path, agentapi.HeartbeatPath):
			w.WriteHeader(http.StatusAccepted)
		case strings.HasPrefix(r.URL.Path, agentapi.AgentsPath):
			w.WriteHeader(http.StatusNoContent)
		case r.URL.Path == agentapi.ContinueInspectionPath:
			_, _ = w.Write(recorded(t, "continue_inspection-reply"))
		}
	})
	srv := httptest.NewTLSServer(handler)
	defer srv.Close()
	sum := sha256.Sum256(srv.Certificate().Raw)
	c := New(Options{URLs: []string{srv.URL}, Pins: [][]byte{sum[:]}, RequestID: "req-1"})
	ctx := t.Context()

	minor, err := c.Version(ctx)
	if err != nil || minor != 82 {
		t.Fatalf("version 1.%d, %v", minor, err)
	}
	reply, err := c.Lookup(ctx, []string{"52:54:00:77:00:06"}, "")
	if err != nil || reply.Node.UUID == "" {
		t.Fatalf("lookup %+v, %v", reply, err)
	}
	if err := c.Heartbeat(ctx, reply.Node.UUID, agentapi.Heartbeat{}); err != nil {
		t.Error(err)
	}
	if err := c.Progress(ctx, reply.Node.UUID, agentapi.Progress{}); err != nil {
		t.Error(err)
	}
	if r, err := c.Inspection(ctx, srv.URL+agentapi.ContinueInspectionPath, agentapi.Inspection{}); err != nil ||
		r.UUID != "" {
		t.Errorf("inspection %+v, %v", r, err)
	}
	want := []seen{
		{"GET /", "", "req-1"},
		{"GET /v1/lookup?addresses=52%3A54%3A00%3A77%3A00%3A06", "1.62", "req-1"},
		{"POST /v1/heartbeat/" + reply.Node.UUID, "1.68", "req-1"},
		{"POST /ferrite/v1/agents/" + reply.Node.UUID + "/progress", "", "req-1"},
		{"POST /v1/continue_inspection", "", "req-1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOldConductorGetsItsOwnVersion(t *testing.T) {
	c := New(Options{URLs: []string{"http://h"}})
	c.minor = 50
	if got := c.atMost(agentapi.HeartbeatMinor); got != "1.50" {
		t.Errorf("asks for %s", got)
	}
}

func TestTrust(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = w.Write(recorded(t, "root"))
	}))
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	defer srv.Close()
	good := sha256.Sum256(srv.Certificate().Raw)
	bad := sha256.Sum256([]byte("another"))
	tests := map[string]struct {
		o      Options
		client func(Options) *http.Client
		ok     bool
	}{
		"right pin":            {Options{Pins: [][]byte{good[:]}}, newHTTPClient, true},
		"wrong pin":            {Options{Pins: [][]byte{bad[:]}}, newHTTPClient, false},
		"wrong pin, insecure":  {Options{Pins: [][]byte{bad[:]}, Insecure: true}, newHTTPClient, false},
		"no pin, unknown root": {Options{}, newHTTPClient, false},
		"insecure":             {Options{Insecure: true}, newHTTPClient, true},
		"image by pin":         {Options{Pins: [][]byte{good[:]}}, imageClient, true},
		"image by no pin":      {Options{Pins: [][]byte{bad[:]}}, imageClient, false},
		"image insecure":       {Options{Pins: [][]byte{bad[:]}, Insecure: true}, imageClient, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client := tc.client(tc.o)
			defer client.CloseIdleConnections()
			resp, err := client.Get(srv.URL)
			if err == nil {
				err = errors.Join(err, resp.Body.Close())
			}
			if (err == nil) != tc.ok {
				t.Errorf("error %v", err)
			}
			if pin := new(PinError); name == "wrong pin" && !errors.As(err, &pin) {
				t.Errorf("error %v does not say that the pin is wrong", err)
			}
		})
	}
}

func imageClient(o Options) *http.Client { return NewImageClient(o, time.Second) }

// answers plays one status after the other, without a network.
type answers struct {
	t       *testing.T
	lookups []int
	n       atomic.Int32
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	body, status := "{}", http.StatusOK
	switch r.URL.Path {
	case "/":
		body = string(recorded(a.t, "root"))
	default:
		n := int(a.n.Add(1)) - 1
		if n < len(a.lookups) {
			status = a.lookups[n]
		} else {
			body = string(recorded(a.t, "lookup"))
		}
	}
	if status == 0 {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{},
		Request: r}, nil
}

func TestLookupUntil(t *testing.T) {
	patience := Patience{Timeout: 600 * time.Second, Interval: time.Second}
	for name, tc := range map[string]struct {
		statuses    []int
		least, most time.Duration
		fails       bool
	}{
		"at once":      {nil, 0, 0, false},
		"locked":       {[]int{409, 409, 409, 409}, 75 * time.Second, 75 * time.Second, false},
		"unknown node": {[]int{404, 404, 404}, 3 * time.Second, 14 * time.Second, false},
		"unreachable":  {[]int{0, 0}, 2 * time.Second, 6 * time.Second, false},
		"never":        {many(404, 1000), 600 * time.Second, 600 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := New(Options{URLs: []string{"http://h"}})
				c.client = &http.Client{Transport: &answers{t: t, lookups: tc.statuses}}
				began := time.Now()
				_, err := c.LookupUntil(t.Context(), func() []string { return []string{"m"} }, "", patience, quiet())
				took := time.Since(began)
				if (err != nil) != tc.fails || took < tc.least || took > tc.most {
					t.Errorf("took %v, error %v", took, err)
				}
				if tc.fails && Status(err) != 404 {
					t.Errorf("the last answer is not in %v", err)
				}
			})
		})
	}
}

func TestInspectUntil(t *testing.T) {
	for name, tc := range map[string]struct {
		statuses []int
		took     time.Duration
		status   int
	}{
		"taken":      {nil, 0, 0},
		"by Ironic":  {[]int{202}, 0, 0},
		"refused":    {[]int{404}, 0, 404},
		"locked":     {[]int{409, 503}, 15 * time.Second, 0},
		"five times": {many(500, 10), 65 * time.Second, 500},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := New(Options{})
				c.client = &http.Client{Transport: &answers{t: t, lookups: tc.statuses}}
				began := time.Now()
				_, err := c.InspectUntil(t.Context(), []string{"http://h/v1/continue_inspection"}, agentapi.Inspection{}, quiet())
				if took := time.Since(began); took != tc.took || Status(err) != tc.status {
					t.Errorf("took %v, error %v", took, err)
				}
			})
		})
	}
}

func many(status, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = status
	}
	return out
}

func TestSecondAddressIsPreferredOnceItWorked(t *testing.T) {
	calls := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls++
		_, _ = w.Write(recorded(t, "root"))
	}))
	defer srv.Close()
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	c := New(Options{URLs: []string{dead.URL, srv.URL}})
	for range 2 {
		if _, err := c.Version(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if c.URL() != srv.URL || calls != 2 {
		t.Errorf("preferred %s after %d calls", c.URL(), calls)
	}
}

func TestBadAnswers(t *testing.T) {
	for name, body := range map[string]string{
		"no json": "<html>", "no uuid": `{"node":{},"config":{"heartbeat_timeout":1}}`, "wrong shape": `{"node":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_,
					_ = io.WriteString(w, body)
			}))
			defer srv.Close()
			if _, err := New(Options{URLs: []string{srv.URL}}).Lookup(t.Context(), nil, ""); err == nil {
				t.Error("accepted")
			}
		})
	}
}

func TestLocalAddress(t *testing.T) {
	a, err := LocalAddress(t.Context(), "http://127.0.0.1:6385")
	if err != nil || a.String() != "127.0.0.1" {
		t.Errorf("%v, %v", a, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if a, err := LocalAddress(ctx, "://"); err == nil {
		t.Errorf("a bad URL gave %v", a)
	}
}

func FuzzLookupReply(f *testing.F) {
	f.Add([]byte(`{"node":{"uuid":"u"},"config":{"heartbeat_timeout":300}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r agentapi.LookupReply
		if json.Unmarshal(b, &r) == nil && r.Validate() == nil && r.Node.UUID == "" {
			t.Error("a reply without a node is valid")
		}
	})
}
