package agents

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/exchange"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

const agentToken = "mwdnu-9BcVDOtDKUi7mn0XU_4fVQOcrEscSxq8iLCfk"

// agentAt serves handler as an agent does and returns how a heartbeat would
// have announced it.
func agentAt(t *testing.T, handler http.HandlerFunc) node.Agent {
	t.Helper()
	srv := httptest.NewUnstartedServer(handler)
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	return node.Agent{URL: srv.URL, Token: agentToken, VerifyCA: string(cert)}
}

// of is a node with an agent.
func of(a node.Agent) node.Node { return node.Node{Agent: a} }

func command(name string) agentapi.Command {
	return agentapi.Command{Name: name, Params: json.RawMessage(`{"a":1}`)}
}

func TestClientSendsAsRecorded(t *testing.T) {
	var got []string
	a := agentAt(t, func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = append(got, fmt.Sprintf("%s %s %s", r.Method, r.URL, b))
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w,
				`{"commands":[{"id":"1","command_name":"n","command_status":"SUCCEEDED","command_error":null,"command_result":{"x":1}}]}`)
			return
		}
		_, _ = io.WriteString(w,
			`{"id":"7","command_name":"execute_clean_step","command_status":"RUNNING","command_error":null,"command_result":null}`)
	})
	c := NewClient(ClientOptions{})
	defer c.Close()
	r, err := c.Execute(t.Context(), of(a), command("clean.execute_clean_step"), false)
	if err != nil || r.ID != "7" || r.Status != agentapi.Running {
		t.Fatalf("%+v, %v", r, err)
	}
	all, err := c.Commands(t.Context(), of(a))
	if err != nil || len(all) != 1 || string(all[0].Result) != `{"x":1}` {
		t.Fatalf("%+v, %v", all, err)
	}
	want := []string{
		"POST /v1/commands/?agent_token=" + agentToken + `&wait=false {"name":"clean.execute_clean_step","params":{"a":1}}`,
		"GET /v1/commands/?agent_token=" + agentToken + " ",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("sent\n%s", strings.Join(got, "\n"))
	}
}

// TestExchangesTold: a watcher of the context learns of each command, and not of the token.
func TestExchangesTold(t *testing.T) {
	a := agentAt(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusConflict) })
	c := NewClient(ClientOptions{})
	defer c.Close()
	var told []exchange.Exchange
	ctx := exchange.Watch(t.Context(), func(e exchange.Exchange) { told = append(told, e) })
	if _, err := c.Execute(ctx, of(a), command("clean.execute_clean_step"), false); err == nil {
		t.Fatal("a conflict is no error")
	}
	if len(told) != 1 {
		t.Fatalf("%d exchanges", len(told))
	}
	if e := told[0]; e.Protocol != exchange.Agent || e.Name != "clean.execute_clean_step" || e.Method != http.MethodPost ||
		e.Status != http.StatusConflict || e.Err == nil || e.Server != a.URL || strings.Contains(fmt.Sprint(e), agentToken) {
		t.Errorf("%+v", e)
	}
}

func TestClientErrors(t *testing.T) {
	var status int
	var body string
	a := agentAt(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
	c := NewClient(ClientOptions{})
	defer c.Close()
	busy := func(err error) bool { var e *BusyError; return errors.As(err, &e) }
	api := func(want int, permanent bool) func(error) bool {
		return func(err error) bool {
			var e *APIError
			return errors.As(err, &e) && e.Status == want && e.Permanent() == permanent
		}
	}
	for name, tc := range map[string]struct {
		status int
		body   string
		is     func(error) bool
	}{
		"busy":          {409, `{"faultcode":"Client","faultstring":"Agent is busy: executing command x"}`, busy},
		"busy in words": {500, `{"faultcode":"Server","faultstring":"Agent is busy"}`, busy},
		"wrong token":   {401, `{"faultcode":"Client","faultstring":"401 Unauthorized: Token invalid."}`, api(401, true)},
		"broken":        {500, "<html>oh</html>", api(500, false)},
		"redirect":      {308, "", func(err error) bool { return strings.Contains(err.Error(), "expected 200, found 308") }},
		"not JSON": {
			200, "hello", func(err error) bool { return strings.Contains(err.Error(), "not as expected") },
		},
		"result is list": {200, "[]", func(err error) bool { return strings.Contains(err.Error(), "not as expected") }},
	} {
		t.Run(name, func(t *testing.T) {
			status, body = tc.status, tc.body
			_, err := c.Execute(t.Context(), of(a), command("standby.sync"), true)
			if err == nil || !tc.is(err) || strings.Contains(err.Error(), agentToken) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestClientKnowsItsAgent(t *testing.T) {
	ok := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"commands":[]}`) }
	a := agentAt(t, ok)
	c := NewClient(ClientOptions{})
	defer c.Close()
	with := func(change func(*node.Agent)) node.Agent { b := a; change(&b); return b }
	own := agentAt(t, func(w http.ResponseWriter, r *http.Request) { ok(w, r) })
	for name, tc := range map[string]struct {
		agent node.Agent
		want  string
	}{
		"right":              {a, ""},
		"plain http":         {with(func(b *node.Agent) { b.URL = "http://127.0.0.1:1" }), "expected https"},
		"no certificate":     {with(func(b *node.Agent) { b.VerifyCA = "" }), "not trusted"},
		"nonsense for a PEM": {with(func(b *node.Agent) { b.VerifyCA = "-----BEGIN" }), "no certificate"},
		"no heartbeat yet":   {node.Agent{}, "heartbeat"},
		"command not formed": {own, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Commands(t.Context(), of(tc.agent))
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
	other := httptest.NewTLSServer(nil) // the same test certificate as all httptest servers have
	defer other.Close()
	forged := with(func(b *node.Agent) {
		der := append([]byte(nil), other.Certificate().Raw...)
		der[len(der)-1] ^= 1
		b.VerifyCA = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	})
	_, err := c.Commands(t.Context(), of(forged))
	if ce := new(CertificateError); !errors.As(err, &ce) {
		t.Errorf("another certificate: %v", err)
	}
	if _, err := c.Execute(t.Context(), of(a), agentapi.Command{Name: "nodot"}, true); err == nil {
		t.Error("a command without extension was sent")
	}
}

func TestClientHasDeadlines(t *testing.T) {
	stuck := make(chan struct{})
	a := agentAt(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-stuck:
		case <-r.Context().Done():
		}
		panic(http.ErrAbortHandler) // an empty answer could come in time for a client that is slow to give up
	})
	defer close(stuck)
	c := NewClient(ClientOptions{})
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Commands(ctx, of(a)); !errors.Is(err, context.DeadlineExceeded) ||
		strings.Contains(err.Error(), agentToken) {
		t.Errorf("got %v, want %v and no token", err, context.DeadlineExceeded)
	}
}

func TestClientForgetsOldAgents(t *testing.T) {
	a := agentAt(t, nil)
	c := NewClient(ClientOptions{})
	defer c.Close()
	for i := range maxAgents + 10 {
		b := a
		b.URL = fmt.Sprintf("https://127.0.0.1:%d", i+1)
		if _, err := c.clientFor(of(b)); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.agents) != maxAgents {
		t.Errorf("%d agents kept", len(c.agents))
	}
}
