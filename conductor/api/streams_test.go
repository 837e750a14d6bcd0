package api_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/bmc/console"
	"github.com/ferrite-metal/ferrite/conductor/engine/events"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// followedEvents has one event, and no more.
type followedEvents struct{}

func (followedEvents) Follow(ctx context.Context, _ events.Query, emit func([]events.Event) error) error {
	if err := emit(nil); err != nil {
		return err
	}
	if err := emit([]events.Event{{Type: "node.created", Line: []byte(`{"type":"node.created"}`)}}); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// named authenticates every token, as a user of that name.
type named struct{}

func (named) Authenticate(_ http.ResponseWriter, r *http.Request) (*auth.Caller, error) {
	return &auth.Caller{User: r.Header.Get("X-Auth-Token"), Role: auth.Admin}, nil
}

// followed is a conductor with all that can be followed, and two places for it.
func followed(t *testing.T) (*atWork, *httptest.Server, *connlimit.Streams) {
	pool := connlimit.NewStreams(connlimit.StreamLimits{All: 1, Loopback: 2}, nil)
	if _, err := pool.Open(connlimit.Reader{User: "eve"}, func(error) {}); err != nil {
		t.Fatal(err)
	}
	consoles := console.New(t.Context(), console.Config{Log: slog.New(slog.DiscardHandler),
		Open: func(context.Context, string, bool) (io.ReadWriteCloser, error) {
			line, _ := net.Pipe() // which says nothing, and lasts
			return line, nil
		},
		Recorded: func(context.Context) ([]string, error) { return nil, nil }})
	w := newAtWork(t, func(o *api.Options) {
		o.Auth, o.Streams, o.Logs, o.BootWatch, o.Events, o.Consoles = named{}, pool, quietLogs{}, bootWatch{},
			followedEvents{}, consoles
	})
	s := httptest.NewUnstartedServer(nil)
	s.Config = api.NewServer(t.Context(), w.api, slog.New(slog.DiscardHandler))
	s.Start()
	t.Cleanup(s.Close)
	return w, s, pool
}

// TestEndlessRoutesHavePlaces: every route with an answer that may go on for ever is refused when the pool is full.
func TestEndlessRoutesHavePlaces(t *testing.T) {
	w, s, pool := followed(t)
	for range 2 {
		if _, err := pool.Open(connlimit.Reader{User: "ann", Local: true}, func(error) {}); err != nil {
			t.Fatal(err)
		}
	}
	paths := w.api.Endless()
	if len(paths) < 4 || !slices.Contains(paths, nodeapi.FerriteRoot+"/events") {
		t.Fatalf("found %v", paths)
	}
	for _, path := range paths {
		query := "?follow=true"
		if strings.HasSuffix(path, "/console") {
			query = ""
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			s.URL+strings.ReplaceAll(path, ":node", w.node.UUID)+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"X-Auth-Token": {"ann"}, "Upgrade": {"websocket"}, "Connection": {"upgrade"}}
		res, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(text), "the loopback: 2 streams") ||
			res.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %s %s", path, res.Status, text)
		}
	}
}

// TestGaveWay: a stream that gives its place to another reader ends in order. It gives the reason where its protocol
// can.
func TestGaveWay(t *testing.T) {
	const why = "user ann had most, 2"
	w, s, pool := followed(t)
	for name, c := range map[string]struct {
		path, accept string
		says         func(body string, trailer http.Header) string
	}{
		"lines": {"/events?follow=true", "", func(body string, _ http.Header) string {
			return body[strings.LastIndex(body, `{"type":"stream.ended"`):]
		}},
		"sse": {"/events", nodeapi.MediaEvents, func(body string, _ http.Header) string {
			return body[strings.LastIndex(body, "event: stream.ended\ndata: "):]
		}},
		"log": {"/nodes/" + w.node.UUID + "/logs?follow=true", "", func(_ string, trailer http.Header) string {
			return trailer.Get("Ferrite-Ended")
		}},
		"boot watch": {"/boot/watch?follow=true", "", func(_ string, trailer http.Header) string {
			return trailer.Get("Ferrite-Ended")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+nodeapi.FerriteRoot+c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header = http.Header{"X-Auth-Token": {"ann"}, "Accept": {c.accept}}
			res, err := s.Client().Do(r)
			if err != nil || res.StatusCode != http.StatusOK {
				t.Fatal(res, err)
			}
			defer res.Body.Close()
			displace(t, pool)
			body, err := io.ReadAll(res.Body)
			if said := c.says(string(body), res.Trailer); err != nil || !strings.Contains(said, why) {
				t.Errorf("it ends with %q, %q, %v", body, res.Trailer, err)
			}
		})
	}
	t.Run("console", func(t *testing.T) {
		socket, _, err := websocket.Dial(t.Context(), s.URL+nodeapi.FerriteRoot+"/nodes/"+w.node.UUID+"/console",
			&websocket.DialOptions{Subprotocols: []string{nodeapi.ConsoleProtocol},
				HTTPHeader: http.Header{"X-Auth-Token": {"ann"}}})
		if err != nil {
			t.Fatal(err)
		}
		defer socket.CloseNow()
		until(t, socket, `"role":"writer"`)
		displace(t, pool)
		_, _, err = readAll(t, socket)
		if websocket.CloseStatus(err) != websocket.StatusTryAgainLater ||
			!strings.Contains(err.Error(), "places for streams") {
			t.Errorf("it ends with %v", err)
		}
	})
}

// displace has another reader come to a pool of two places, of which the user ann has the first.
func displace(t *testing.T, pool *connlimit.Streams) {
	t.Helper()
	for _, user := range []string{"ann", "bob"} {
		leave, err := pool.Open(connlimit.Reader{User: user, Local: true}, func(error) {})
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
	}
}
