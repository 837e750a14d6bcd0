package api_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/agents/bootlog"
	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// newLogs serves the logs of one node called n1.
func newLogs(t *testing.T, writeTimeout time.Duration) (*bootlog.Keeper, string, *httptest.Server) {
	t.Helper()
	c := newConductor(t)
	uuid, _ := c.must(http.StatusCreated, 82, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`).doc(
		t)["uuid"].(string)
	keeper, err := bootlog.Open(t.TempDir(), bootlog.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(nil)
	ctx, cancel := context.WithCancel(t.Context())
	s.Config = api.NewServer(ctx,
		api.New(api.Options{Conductor: c.Engine, Logs: keeper, Log: slog.New(slog.DiscardHandler)}),
		slog.New(slog.DiscardHandler))
	s.Config.WriteTimeout = writeTimeout
	s.Start()
	t.Cleanup(func() { cancel(); s.Close() })
	return keeper, uuid, s
}

func TestReadLog(t *testing.T) {
	keeper, uuid, s := newLogs(t, time.Minute)
	for i, boot := range []string{"00000000000000aa", "00000000000000bb"} {
		if err := keeper.Append(uuid, boot, 0, []string{"first of " + boot, "second"}[:2-i]); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"n1/logs":               {200, "first of 00000000000000bb\n"},
		uuid + "/logs":          {200, "first of 00000000000000bb\n"},
		"n1/logs?boot=1":        {200, "first of 00000000000000aa\nsecond\n"},
		"n1/logs?boot=1&tail=1": {200, "second\n"},
		"n1/logs?boot=2":        {404, "logs of 2 boots are kept"},
		"n1/logs?boot=-1":       {400, "from 0 on"},
		"n1/logs?tail=x":        {400, "from 0 on"},
		"n1/logs?follow=maybe":  {400, "true or false"},
		"n1/logs?lines=5":       {400, "unexpected argument lines"},
		"n2/logs":               {404, "Node n2 could not be found"},
	} {
		resp, err := s.Client().Get(s.URL + nodeapi.FerriteRoot + "/nodes/" + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != want.status || !strings.Contains(string(body), want.text) {
			t.Errorf("%s: %d %s %v, want %d with %q", path, resp.StatusCode, body, err, want.status, want.text)
		}
		if want.status == 200 &&
			(string(body) != want.text || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain")) {
			t.Errorf("%s: %q as %s", path, body, resp.Header.Get("Content-Type"))
		}
	}
}

// TestFollowLog: lines arrive as they are logged, past the limits on whole
// requests, and the end of the client ends it.
func TestFollowLog(t *testing.T) {
	keeper, uuid, s := newLogs(t, time.Nanosecond) // each piece has its own
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		s.URL+nodeapi.FerriteRoot+"/nodes/n1/logs?follow=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.Client().Do(req) // answered before anything was logged
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	for i, want := range []string{"one\n", "two\n"} {
		if err := keeper.Append(uuid, "00000000000000aa", int64(i), []string{strings.TrimSpace(want)}); err != nil {
			t.Fatal(err)
		}
		if got, err := lines.ReadString('\n'); got != want || err != nil {
			t.Fatalf("%q %v, want %q", got, err, want)
		}
	}
	cancel()
	if _, err := lines.ReadString('\n'); err == nil {
		t.Error("it goes on after its client has left")
	}
}

// TestNoLogs: a conductor that keeps none says so.
func TestNoLogs(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 82, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`)
	w := httptest.NewRecorder()
	api.New(api.Options{Conductor: c.Engine, Log: slog.New(slog.DiscardHandler)}).ServeHTTP(w,
		httptest.NewRequest(http.MethodGet, "/ferrite/v1/nodes/n1/logs", nil))
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "keeps no logs") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
