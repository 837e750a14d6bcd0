package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/bmc/console"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// newConsole serves the console of one node called n1. Its machine echoes the input.
func newConsole(t *testing.T) (*httptest.Server, *api.API, context.CancelFunc) {
	t.Helper()
	c := newConductor(t)
	c.must(http.StatusCreated, 82, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`)
	ctx, cancel := context.WithCancel(t.Context())
	log := slog.New(slog.DiscardHandler)
	consoles := console.New(ctx, console.Config{Log: log,
		Open: func(context.Context, string, bool) (io.ReadWriteCloser, error) {
			ours, machine := net.Pipe()
			go func() { _, _ = io.Copy(machine, machine) }()
			return ours, nil
		},
		Recorded: func(context.Context) ([]string, error) { return nil, nil }})
	done := make(chan struct{})
	go func() { defer close(done); consoles.Run() }()
	s := httptest.NewUnstartedServer(nil)
	face := api.New(api.Options{Conductor: c.Engine, Consoles: consoles, Log: log, Stopping: ctx})
	s.Config = api.NewServer(t.Context(), face, log)
	s.Start()
	t.Cleanup(func() { cancel(); <-done; s.Close() })
	return s, face, cancel
}

func dialConsole(t *testing.T, s *httptest.Server, query, protocol, origin string) (*websocket.Conn, *http.Response,
	error) {
	t.Helper()
	o := &websocket.DialOptions{Subprotocols: []string{protocol}, HTTPHeader: http.Header{}}
	if origin != "" {
		o.HTTPHeader.Set("Origin", origin)
	}
	c, resp, err := websocket.Dial(t.Context(), s.URL+nodeapi.FerriteRoot+"/nodes/n1/console"+query, o)
	if err == nil {
		t.Cleanup(func() { c.CloseNow() })
	}
	return c, resp, err
}

// until reads messages until text has come, in output or events.
func until(t *testing.T, c *websocket.Conn, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all string
	for !strings.Contains(all, text) {
		kind, data, err := c.Read(ctx)
		if err != nil {
			t.Fatalf("%q came, want %q: %v", all, text, err)
		}
		var e nodeapi.ConsoleEvent
		if kind == websocket.MessageText && json.Unmarshal(data, &e) != nil {
			t.Errorf("%q is no event", data)
		}
		all += string(data)
	}
}

func TestConsoleSocket(t *testing.T) {
	s, _, stop := newConsole(t)
	writer, _, err := dialConsole(t, s, "", nodeapi.ConsoleProtocol, "")
	if err != nil {
		t.Fatal(err)
	}
	until(t, writer, `"role":"writer"`)
	if err := writer.Write(t.Context(), websocket.MessageBinary, []byte("hello\x00\xff")); err != nil {
		t.Fatal(err)
	}
	until(t, writer, "hello\x00\xff")
	reader, _, err := dialConsole(t, s, "", nodeapi.ConsoleProtocol, s.URL)
	if err != nil {
		t.Fatal(err)
	}
	until(t, reader, `"role":"reader","holder":"somebody"`)
	until(t, reader, "hello\x00\xff")
	taker, _, err := dialConsole(t, s, "?take=true", nodeapi.ConsoleProtocol, "")
	if err != nil {
		t.Fatal(err)
	}
	until(t, taker, `"role":"writer"`)
	until(t, writer, `"role":"reader"`)
	stop()
	if _, _, err := readAll(t, taker); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the end of the conductor: %v", err)
	}
}

// TestConsolesEnd: a conductor that stops waits until every client has its close frame.
func TestConsolesEnd(t *testing.T) {
	s, face, stop := newConsole(t)
	reader, _, err := dialConsole(t, s, "?write=false", nodeapi.ConsoleProtocol, "")
	if err != nil {
		t.Fatal(err)
	}
	until(t, reader, `"role":"reader"`)
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := face.WaitConsoles(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one client views: %v", err)
	}
	stop()
	read := make(chan error, 1)
	go func() { _, _, err := readAll(t, reader); read <- err }()
	long, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := face.WaitConsoles(long); err != nil {
		t.Errorf("the end of the conductor: %v", err)
	}
	if err := <-read; websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the client ended without the close frame that has it connect again: %v", err)
	}
	if err := face.WaitConsoles(short); err != nil {
		t.Errorf("nobody views: %v", err)
	}
}

func readAll(t *testing.T, c *websocket.Conn) (kind websocket.MessageType, data []byte, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for err == nil {
		kind, data, err = c.Read(ctx)
	}
	return kind, data, err
}

func TestConsoleRefused(t *testing.T) {
	s, _, _ := newConsole(t)
	for query, want := range map[string]int{
		"?take=maybe": 400, "?write=false&take=true": 400, "?tail=1": 400, "": 403,
	} {
		_, resp, err := dialConsole(t, s, query, nodeapi.ConsoleProtocol, "https://evil.example")
		if err == nil || resp == nil || resp.StatusCode != want {
			t.Errorf("%q: %v, want %d", query, err, want)
		}
	}
	resp, err := http.Get(s.URL + nodeapi.FerriteRoot + "/nodes/n1/console")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUpgradeRequired || resp.Header.Get("Upgrade") != "websocket" {
		t.Errorf("no WebSocket: %v", resp.Status)
	}
	c, _, err := dialConsole(t, s, "", "other", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := readAll(t, c); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("another subprotocol: %v", err)
	}
	c, _, err = dialConsole(t, s, "", nodeapi.ConsoleProtocol, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write(t.Context(), websocket.MessageBinary, make([]byte, nodeapi.ConsoleMessageLimit+1)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := readAll(t, c); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a message that is too long: %v", err)
	}
}
