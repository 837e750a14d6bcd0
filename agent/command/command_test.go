package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

const token = "mwdnu-9BcVDOtDKUi7mn0XU_4fVQOcrEscSxq8iLCfk"

// bench is a server with commands for the tests.
type bench struct {
	*httptest.Server
	release chan struct{} // ends test.wait
	done    atomic.Int32
	open    atomic.Bool
	issued  atomic.Pointer[string]
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{release: make(chan struct{})}
	held := token
	b.issued.Store(&held)
	value := func(v any, err error) Func {
		return func(context.Context, json.RawMessage) (any, error) { return v, err }
	}
	s := New(t.Context(), Options{
		Extensions: map[string]Extension{"test": {
			"sync": {Run: value(map[string]int{"n": 1}, nil)},
			"null": {Run: value(nil, nil)},
			"text": {Run: value("hello", nil)},
			"fail": {Run: value(nil, fmt.Errorf("step: %w",
				agentapi.NewCommandError("ImageChecksumError", "Error verifying", "expected a, found b")))},
			"partly":  {Run: value(map[string]int{"n": 1}, errors.New("the other half is left"))},
			"plain":   {Run: value(nil, errors.New("disk is gone"))},
			"refuse":  {Run: value(nil, &HTTPError{http.StatusBadRequest, "Invalid command: no"})},
			"panic":   {Run: func(context.Context, json.RawMessage) (any, error) { panic("oh") }},
			"version": {Run: value(nil, VersionMismatch(agentapi.CleanVersionMismatch, "1 is not 2"))},
			"wait": {Async: true, Run: func(ctx context.Context, _ json.RawMessage) (any, error) {
				select {
				case <-b.release:
					return "written", nil
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}},
		}},
		Token: func() string { return *b.issued.Load() }, OpenList: b.open.Load, Done: func() { b.done.Add(1) },
		Version: "1.2.3", Started: time.Unix(1795182601, 527427400), Log: slog.New(slog.DiscardHandler),
	})
	b.Server = httptest.NewServer(s)
	t.Cleanup(b.Close)
	return b
}

// ask makes a request without following redirects.
func (b *bench) ask(t *testing.T, method, path, body string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, b.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := b.Client().Transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() // read to its end
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

func (b *bench) post(t *testing.T, query, name string) (int, agentapi.Result, string) {
	t.Helper()
	status, _, text := b.ask(t, http.MethodPost, "/v1/commands/?agent_token="+token+query,
		`{"name":"`+name+`","params":{}}`)
	var r agentapi.Result
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return status, r, text
}

// TestAsProbed sends the requests that were recorded from a real ironic-python-agent, and expects its statuses and
// faults.
func TestAsProbed(t *testing.T) {
	b := newBench(t)
	good := "?agent_token=" + token
	sync := `{"name":"test.sync","params":{}}`
	tests := map[string]struct {
		method, path, body string
		status             int
		text               string // part of the answer
	}{
		"root":          {"GET", "/", "", 200, `"default_version":{"id":"v1"`},
		"v1":            {"GET", "/v1/", "", 200, `"commands":[{"href":"` + b.URL + `/v1/commands"`},
		"status":        {"GET", "/v1/status", "", 200, `{"started_at":1795182601.527427,"version":"1.2.3"}`},
		"bare status":   {"GET", "/status", "", 200, `"version":"1.2.3"`},
		"list":          {"GET", "/v1/commands/" + good, "", 200, `{"commands":[]}`},
		"bare list":     {"GET", "/commands/" + good, "", 200, `{"commands":[]}`},
		"list no token": {"GET", "/v1/commands/", "", 401, "401 Unauthorized: Token invalid."},
		"unknown id": {"GET", "/v1/commands/nonexistent" + good, "", 404,
			`"Not found: Command Result with id nonexistent not found."`},
		"no token": {"POST", "/v1/commands/?wait=true", sync, 401, "401 Unauthorized: Token invalid."},
		"wrong token": {"POST", "/v1/commands/?wait=true&agent_token=wrong", sync, 401,
			`{"faultcode":"Client","faultstring":"401 Unauthorized: Token invalid."}`},
		"no dot": {"POST", "/v1/commands/" + good, `{"name":"nodot","params":{}}`, 400,
			"Invalid command: Command name must be of the form \\u003cextension\\u003e.\\u003cname\\u003e"},
		"no extension": {"POST", "/v1/commands/" + good, `{"name":"nosuch.thing","params":{}}`, 404,
			"Not found: Extension with id nosuch not found."},
		"no command": {"POST", "/v1/commands/" + good, `{"name":"test.nosuch","params":{}}`, 400,
			"Invalid command: Unknown command: nosuch"},
		"no JSON": {"POST", "/v1/commands/" + good, "not json", 400,
			"400 Bad Request: Failed to decode JSON object:"},
		"no params": {"POST", "/v1/commands/" + good, `{"name":"test.sync"}`, 400,
			"Missing or invalid name or params"},
		"params no object": {"POST", "/v1/commands/" + good, `{"name":"test.sync","params":[]}`, 400,
			"Missing or invalid name or params"},
		"delete":  {"DELETE", "/v1/commands/", "", 405, "405 Method Not Allowed"},
		"nothing": {"GET", "/v1/nothing", "", 404, `"faultcode":"Client"`},
		"refused": {"POST", "/v1/commands/" + good, `{"name":"test.refuse","params":{}}`, 400,
			"Invalid command: no"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			status, h, text := b.ask(t, tc.method, tc.path, tc.body)
			if status != tc.status || !strings.Contains(text, tc.text) || h.Get("Content-Type") != "application/json" {
				t.Errorf("%d %s %s, want %d with %s", status, h.Get("Content-Type"), text, tc.status, tc.text)
			}
			if status == 405 && h.Get("Allow") != "POST, GET, HEAD" {
				t.Errorf("Allow: %s", h.Get("Allow"))
			}
		})
	}
}

func TestRedirects(t *testing.T) {
	b := newBench(t)
	for from, to := range map[string]string{"/v1": "/v1/", "/v1/commands?agent_token=x": "/v1/commands/?agent_token=x",
		"/commands": "/commands/"} {
		status, h, _ := b.ask(t, http.MethodGet, from, "")
		if status != http.StatusPermanentRedirect || h.Get("Location") != b.URL+to {
			t.Errorf("%s: %d to %s", from, status, h.Get("Location"))
		}
	}
}

func TestResults(t *testing.T) {
	b := newBench(t)
	type outcome struct {
		Status agentapi.Status
		Result string
		Error  *agentapi.CommandError
	}
	for name, want := range map[string]outcome{
		"sync": {agentapi.Succeeded, `{"n":1}`, nil},
		"null": {agentapi.Succeeded, "null", nil},
		"text": {agentapi.Succeeded, `{"result":"hello"}`, nil},
		"fail": {agentapi.Failed, "null", agentapi.NewCommandError("ImageChecksumError", "Error verifying",
			"expected a, found b")},
		"partly": {agentapi.Failed, `{"n":1}`, agentapi.NewCommandError("CommandExecutionError", "Command execution failed",
			"the other half is left")},
		"plain": {agentapi.Failed, "null", agentapi.NewCommandError("CommandExecutionError", "Command execution failed",
			"disk is gone")},
		"panic": {agentapi.Failed, "null", agentapi.NewCommandError("CommandExecutionError", "Command execution failed",
			"test.panic panicked: oh")},
		"version": {agentapi.CleanVersionMismatch, "null",
			agentapi.NewCommandError("VersionMismatch", "Hardware managers version mismatch", "1 is not 2")},
	} {
		t.Run(name, func(t *testing.T) {
			status, r, _ := b.post(t, "", "test."+name)
			got := outcome{r.Status, string(r.Result), r.Error}
			if diff := cmp.Diff(want, got); diff != "" || status != 200 || r.Name != name || r.ID == "" {
				t.Errorf("%d %+v\n%s", status, r, diff)
			}
		})
	}
	if b.done.Load() != 0 {
		t.Error("a sync command forced a heartbeat")
	}
}

func TestAsyncBusyAndWait(t *testing.T) {
	b := newBench(t)
	_, running, text := b.post(t, "&wait=false", "test.wait")
	if running.Status != agentapi.Running || !strings.Contains(text, `"command_error":null,"command_result":null`) {
		t.Fatalf("answer %s", text)
	}
	for _, name := range []string{"test.sync", "nosuch.thing"} { // busy is looked at first
		status, _, text := b.ask(t, http.MethodPost, "/v1/commands/?agent_token="+token, `{"name":"`+name+`","params":{}}`)
		if status != http.StatusConflict ||
			text != `{"faultcode":"Client","faultstring":"Agent is busy: executing command wait"}` {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	answered := make(chan string, 1)
	go func() {
		resp, err := b.Client().Get(b.URL + "/v1/commands/" + running.ID + "?wait=true&agent_token=" + token)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer resp.Body.Close() // read to its end
		text, err := io.ReadAll(resp.Body)
		answered <- fmt.Sprint(string(text), err)
	}()
	select {
	case text := <-answered:
		t.Fatalf("wait=true answered before the end: %s", text)
	case <-time.After(20 * time.Millisecond):
	}
	close(b.release)
	if text := <-answered; !strings.Contains(text, `"command_status":"SUCCEEDED"`) ||
		!strings.Contains(text, `{"result":"wait: written"}`) {
		t.Errorf("answer %s", text)
	}
	_, after, _ := b.post(t, "", "test.sync")
	_, _, list := b.ask(t, http.MethodGet, "/v1/commands/?agent_token="+token, "")
	if first, second := strings.Index(list, running.ID), strings.Index(list, after.ID); first < 0 || second < first {
		t.Errorf("results are not in order: %s", list)
	}
	for deadline := time.Now().Add(5 * time.Second); b.done.Load() != 1; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("Done called %d times", b.done.Load())
		}
	}
}

func TestTokens(t *testing.T) {
	b := newBench(t)
	none := ""
	list := func(query string) int {
		status, _, _ := b.ask(t, http.MethodGet, "/v1/commands/"+query, "")
		return status
	}
	b.open.Store(true) // an Ironic that sends no token with GET
	if s := list(""); s != 200 {
		t.Errorf("list without token for an old conductor: %d", s)
	}
	if s := list("?agent_token=wrong"); s != 401 {
		t.Errorf("list with a wrong token: %d", s)
	}
	if s, _, _ := b.ask(t, http.MethodPost, "/v1/commands/", `{"name":"test.sync","params":{}}`); s != 401 {
		t.Errorf("command without token for an old conductor: %d", s)
	}
	b.issued.Store(&none) // before lookup
	for _, q := range []string{"", "?agent_token=", "?agent_token=" + token} {
		if s := list(q); s != 401 {
			t.Errorf("%q before a token was issued: %d", q, s)
		}
	}
}

func TestOldResultsAreForgotten(t *testing.T) {
	r := &runner{ctx: t.Context(), opts: Options{
		Log: slog.New(slog.DiscardHandler),
		Extensions: map[string]Extension{"a": {"b": {Run: func(context.Context, json.RawMessage) (any,
			error) {
			return nil, nil
		}}}},
	}}
	for range maxResults + 5 {
		if _, err := r.start(agentapi.Command{Name: "a.b", Params: json.RawMessage("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(r.results()); n != maxResults {
		t.Errorf("%d results kept", n)
	}
}

func FuzzPost(f *testing.F) {
	f.Add(`{"name":"test.sync","params":{}}`)
	f.Add(`{"name":"..","params":{"a":[1,2]}}`)
	f.Add(`{"name":1}`)
	s := New(context.Background(), Options{
		Extensions: map[string]Extension{"test": {"sync": {Run: func(context.Context, json.RawMessage) (any,
			error) {
			return nil, nil
		}}}},
		Token: func() string { return token }, OpenList: func() bool { return false },
		Log: slog.New(slog.DiscardHandler),
	})
	f.Fuzz(func(t *testing.T, body string) {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/commands/?agent_token="+token, strings.NewReader(body)))
		if !json.Valid(w.Body.Bytes()) || w.Code >= 500 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
