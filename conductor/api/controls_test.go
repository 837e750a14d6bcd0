package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/agents"
	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// watched is a body that records whether it was read.
type watched struct {
	io.Reader
	read bool
}

func (w *watched) Read(p []byte) (int, error) { w.read = true; return w.Reader.Read(p) }

// controlled is a whole API with all its rows, asked without a connection between.
type controlled struct {
	*conductor
	api   *api.API
	rows  map[string][]string
	asked int
}

func newControlled(t *testing.T) *controlled {
	t.Helper()
	c := &conductor{t: t, Conductor: apitest.Start(t, mem.New(), nil)}
	mounts := agents.NewServer(agents.Options{Conductor: c.Engine, FailureRate: 1e9, FailureBurst: 1e9,
		Logs: noLogs{}}).Handlers()
	a := api.New(api.Options{Conductor: c.Engine, Mounts: mounts})
	if left := a.Unrouted(mounts); left != nil {
		t.Errorf("no row says what is served at %v: describe it in agentRows", left)
	}
	return &controlled{conductor: c, api: a, rows: a.Rows(mounts)}
}

// noLogs keeps no log.
type noLogs struct{}

func (noLogs) Append(string, string, int64, []string) error { return nil }

// furnish makes a node and a port that rows can be about, unless they are there.
func (c *controlled) furnish() {
	c.do(115, "POST", "/v1/nodes", `{"driver":"fake-hardware","uuid":"`+fuzzNode+`"}`)
	c.do(115, "POST", "/v1/ports", `{"node_uuid":"`+fuzzNode+`","uuid":"`+fuzzNode+`","address":"52:54:00:00:00:01"}`)
}

// send asks at the newest microversion, and reports whether the body was read.
func (c *controlled) send(method, path, body string) (reply, bool) {
	c.asked++
	b := &watched{Reader: strings.NewReader(body)}
	r := httptest.NewRequestWithContext(c.t.Context(), method, path, b)
	r.Header.Set(nodeapi.HeaderVersion, "latest")
	w := httptest.NewRecorder()
	c.api.ServeHTTP(w, r)
	return reply{w.Code, w.Header(), w.Body.String()}, b.read
}

// refuses fails on an answer that is not the refusal of a control character.
func (c *controlled) refuses(method, path, body string) {
	c.t.Helper()
	if r, _ := c.send(method, path, body); r.status != http.StatusBadRequest ||
		!strings.Contains(r.text(), "control character") {
		c.t.Errorf("%s %q %s: %d %s", method, path, body, r.status, r.body)
	}
}

// whole fills in the parameters of a row's path. The nth value is bad.
func whole(row string, nth int, bad string) (path string, names int) {
	parts := strings.Split(row, "/")
	for i, part := range parts {
		if !strings.HasPrefix(part, ":") {
			continue
		}
		if parts[i] = map[string]string{":node": fuzzNode, ":ident": fuzzNode, ":port": fuzzNode, ":driver": "fake-hardware",
			":indicator": "led@chassis", ":mac": "52:54:00:00:00:01"}[part]; parts[i] == "" {
			parts[i] = "x"
		}
		if names++; names == nth {
			parts[i] = "a" + bad
		}
	}
	return strings.Join(parts, "/"), names
}

// TestControlCharactersInEveryURL: no row of the route table takes a control
// character in a segment of its path, in an argument, or in the name of one.
func TestControlCharactersInEveryURL(t *testing.T) {
	c := newControlled(t)
	c.furnish()
	for row := range c.rows {
		method, route, _ := strings.Cut(row, " ")
		path, names := whole(route, 0, "")
		for _, bad := range []string{"%00", "%1b", "%0a", "%7f"} {
			for nth := 1; nth <= names; nth++ {
				at, _ := whole(route, nth, bad)
				c.refuses(method, at, "")
			}
			c.refuses(method, path+"?fields=a"+bad, "")
			c.refuses(method, path+"?"+bad+"=a", "")
		}
	}
	if c.asked < 2000 {
		t.Errorf("only %d requests were made", c.asked)
	}
}

// taken reports whether a body of the row may hold control characters. The comments give the reasons.
func taken(row, field string) bool {
	switch row {
	case "POST " + agentapi.ContinueInspectionPath: // cleaned: firmware says such things
		return true
	case "POST " + agentapi.AgentsPath + ":node" + agentapi.LogSuffix: // kept cleaned: terminals are driven so
		return true
	case "PUT " + nodeapi.ImagesPath + "/:image/file": // bytes of any meaning
		return true
	case "POST " + agentapi.HeartbeatPath + ":node":
		return field == "agent_status_message" // not read
	}
	return false
}

// TestControlCharactersInEveryBody: a row that takes a body refuses a control character in any field, however deep, and
// in any key. A row that reads a body, although the document has none, refuses it too.
func TestControlCharactersInEveryBody(t *testing.T) {
	c := newControlled(t)
	for row, fields := range c.rows {
		method, route, _ := strings.Cut(row, " ")
		path, _ := whole(route, 0, "")
		c.furnish()
		for _, body := range bodiesOf(method, fields) {
			if taken(row, body.field) {
				continue
			}
			for _, bad := range []string{`\u0000`, `\u001b`, `\b`, "\x7f"} {
				text := strings.ReplaceAll(body.text, "*", bad)
				r, read := c.send(method, path, text)
				refused := r.status == http.StatusBadRequest && strings.Contains(r.text(), "control character")
				if strings.HasPrefix(route, agentapi.HeartbeatPath) &&
					(body.field == "unheard_of" || !strings.HasSuffix(body.text, `:"a*b"}`)) {
					refused = r.status == http.StatusBadRequest // for a name it does not know, or a value that is no text
				}
				if !refused && (read || fields != nil) {
					t.Errorf("%s %s: %d %s", row, text, r.status, r.body)
				}
			}
		}
	}
	if c.asked < 2000 {
		t.Errorf("only %d requests were made", c.asked)
	}
}

// sentBody is a body with a star where a control character is to be, and the field it
// is in.
type sentBody struct{ field, text string }

// bodiesOf is bodies for a row with these fields, none of which it needs to take for
// anything but the control character.
func bodiesOf(method string, fields []string) (all []sentBody) {
	for _, field := range append([]string{"unheard_of"}, fields...) {
		for _, value := range []string{`"a*b"`, `["a","*"]`, `{"a":"*"}`, `{"*":1}`, `[{"a":[{"b":"*"}]}]`} {
			all = append(all, sentBody{field, `{"` + field + `":` + value + `}`})
			if method == http.MethodPatch {
				all = append(all, sentBody{field, `[{"op":"add","path":"/` + field + `","value":` + value + `}]`})
			}
		}
	}
	if method == http.MethodPatch {
		all = append(all, sentBody{"", `[{"op":"*","path":"/extra","value":1}]`},
			sentBody{"", `[{"op":"add","path":"/extra/*","value":1}]`}, sentBody{"", `[{"op":"add","path":"/extra","*":1}]`})
	}
	return append(all, sentBody{"", `{"*":1}`}, sentBody{"", `"*"`}, sentBody{"", `["*"]`})
}
