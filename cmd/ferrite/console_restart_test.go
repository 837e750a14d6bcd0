package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
	"github.com/ferrite-metal/ferrite/lab/redfish/sshconsole"
	"github.com/ferrite-metal/ferrite/lab/redfish/sshconsole/sshconsoletest"
)

// TestConsoleRestart: a console outlives a restart of the conductor. The client reports the restart, and later input
// reaches the machine.
func TestConsoleRestart(t *testing.T) {
	board := sshconsoletest.Start(t, "", sshconsole.Config{User: redfishtest.User, Password: redfishtest.Password})
	bmc := redfish.New(redfish.Config{Machine: redfishtest.NewMachineOf(redfishtest.SystemUUID),
		Username: redfishtest.User, Password: redfishtest.Password, SSHPort: board.Port(t),
		Log: slog.New(slog.DiscardHandler)})
	server := httptest.NewServer(bmc)
	defer func() { bmc.Close(); server.Close() }()

	dir := filepath.Join(t.TempDir(), "data")
	first := servetest.Start(t, serve.Command(), dir, "--auth", "none", "--boot=false")
	first.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "redfish", "name": "n1", "driver_info": map[string]any{
		"redfish_address": server.URL, "redfish_username": redfishtest.User,
		"redfish_password": redfishtest.Password}}, 201)

	way := newForwarder(t)
	way.to.Store(strings.TrimPrefix(first.URL, "http://"))
	keys, typed := io.Pipe()
	out, notices := &apitest.Log{}, &apitest.Log{}
	console := cli.New("test")
	console.SetArgs([]string{"node", "console", "n1", "--url", "http://" + way.Addr().String()})
	console.SetIn(keys)
	console.SetOut(out)
	console.SetErr(notices)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- console.ExecuteContext(ctx) }()
	until := func(log *apitest.Log, text string, times int) {
		t.Helper()
		for end := time.Now().Add(servetest.Patience); strings.Count(log.String(), text) < times; {
			select {
			case err := <-ended:
				t.Fatalf("it ended: %v\n%s\n%s", err, out, notices)
			case <-time.After(5 * time.Millisecond):
			}
			if time.Now().After(end) {
				t.Fatalf("no %q, %d times:\n%s\n%s\n%s", text, times, out, notices, first.Log)
			}
		}
	}
	until(out, sshconsoletest.Hello, 1)
	until(notices, "You write here", 1)
	first.End(t)
	until(notices, "The conductor is stopping. Connecting again", 1)
	second := servetest.Start(t, serve.Command(), dir, "--auth", "none", "--boot=false")
	defer second.End(t)
	way.to.Store(strings.TrimPrefix(second.URL, "http://"))
	until(notices, "Connected again.", 1)
	until(notices, "You write here", 2)
	until(out, sshconsoletest.Hello, 2)
	fmt.Fprint(typed, "after|")
	until(out, "after|", 1)
	if got := board.Typed(); got != "after|" {
		t.Errorf("the machine got %q", got)
	}
	fmt.Fprint(typed, "\r~.")
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// forwarder is an address that a conductor keeps through a restart, even if other processes take ports meanwhile.
type forwarder struct {
	net.Listener
	to atomic.Value // string
}

func newForwarder(t *testing.T) *forwarder {
	t.Helper()
	l, err := net.Listen("tcp", servetest.AnyPort)
	if err != nil {
		t.Fatal(err)
	}
	f := &forwarder{Listener: l}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go f.forward(client)
		}
	}()
	return f
}

func (f *forwarder) forward(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", f.to.Load().(string))
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, client)
		server.Close()
	}()
	_, _ = io.Copy(client, server)
}
