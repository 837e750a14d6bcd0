package api_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// TestOurFault: a fault of the server is a 500 that reveals only where to look, and one line in the log.
func TestOurFault(t *testing.T) {
	c := apitest.Start(t, mem.New(), func(*engine.Engine) map[string]rest.Handler {
		return map[string]rest.Handler{
			"/panics": func(http.ResponseWriter, *http.Request) error { panic("deep inside") },
			"/fails":  func(http.ResponseWriter, *http.Request) error { return errors.New("deep inside") },
		}
	})
	const global = "req-01234567-89ab-cdef-0123-456789abcdef"
	ask := func(path, global string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-OpenStack-Request-ID", global)
		return c.Client().Do(r)
	}
	for _, path := range []string{"/panics", "/fails/below/"} {
		logged := len(c.Log.String())
		resp, err := ask(path, global)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusInternalServerError || strings.Contains(string(body), "deep") {
			t.Errorf("%s: %d %s %v", path, resp.StatusCode, body, err)
		}
		if n := strings.Count(c.Log.String()[logged:], "level=ERROR"); n != 1 {
			t.Errorf("%s: %d lines in the log:\n%s", path, n, c.Log)
		}
		if id := resp.Header.Get("Openstack-Request-Id"); id == "" || id == global || !strings.Contains(c.Log.String(), id) ||
			!strings.Contains(string(body), id) {
			t.Errorf("%s: request %q is not in log and answer", path, id)
		}
		if n := strings.Count(c.Log.String()[logged:], "global_request="+global); n != 1 {
			t.Errorf("%s: the log names %d times what it was a part of", path, n)
		}
		if resp, err = ask(path, "req-nonsense"); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if strings.Contains(c.Log.String(), "nonsense") {
			t.Errorf("%s: what is no ID is logged:\n%s", path, c.Log)
		}
	}
}

// TestPaths: with a slash at the end and without /v1 in front.
func TestPaths(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 82, "POST", "/nodes/", `{"driver":"fake-hardware","name":"n1"}`)
	for _, path := range []string{"/v1/nodes/n1", "/v1/nodes/n1/", "/nodes/n1", "/v1/nodes/n1.json", "/drivers/"} {
		c.must(http.StatusOK, 82, "GET", path, "")
	}
	c.must(http.StatusNotFound, 115, "GET", "/v1/nodes/n1.json", "")
	if r := c.must(http.StatusOK, 0, "OPTIONS", "/v1/nodes", ""); r.body != "" {
		t.Errorf("OPTIONS answers %q", r.body)
	}
	c.must(http.StatusMethodNotAllowed, 0, "HEAD", "/v1", "")
}

// TestSlowSender: a connection that sends nothing more is cut off.
func TestSlowSender(t *testing.T) {
	s := api.NewServer(context.Background(), http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	s.ReadHeaderTimeout = 50 * time.Millisecond // the test is of the limit, not of its length
	h := httptest.NewUnstartedServer(nil)
	h.Config = s
	h.Start()
	defer h.Close()
	conn, err := net.Dial("tcp", h.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n")); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(conn); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection was not cut off: %v", err)
	}
	if s.ReadTimeout == 0 || s.WriteTimeout == 0 || s.IdleTimeout == 0 || s.MaxHeaderBytes == 0 {
		t.Errorf("a limit is missing: %+v", s)
	}
}
