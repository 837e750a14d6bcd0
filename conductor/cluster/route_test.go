package cluster

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestGroupOf: requests are matched to the group of the node that they name.
func TestGroupOf(t *testing.T) {
	r := newRows()
	r.groups = map[string]string{"n1": "a", "52:54:00:00:00:01": "b", "alloc": "c", "status": "d"}
	for _, tc := range []struct{ method, path, body, want string }{
		{"GET", "/v1/nodes", "", ""},
		{"GET", "/v1/nodes/detail", "", ""},
		{"GET", "/v1/nodes/n1", "", "a"},
		{"PUT", "/nodes/n1/states/power", "{}", "a"},
		{"GET", "/v1/nodes/unknown", "", ""},
		{"GET", "/ferrite/v1/nodes/n1/status", "", "a"},
		{"GET", "/ferrite/v1/nodes/status", "", ""},
		{"DELETE", "/v1/nodes/status", "", "d"},
		{"PUT", "/v1/nodes/states/power/n1", "{}", "a"},
		{"PUT", "/nodes/states/power?node_ident=n1", "{}", "a"},
		{"PATCH", "/v1/nodes?node_ident=n1", "[]", "a"},
		{"PUT", "/v1/nodes/management/inject_nmi?node_ident=n1", "{}", "a"},
		{"DELETE", "/v1/ports?port_ident=52:54:00:00:00:01", "", "b"},
		{"POST", "/v1/heartbeat/n1", "{}", "a"},
		{"GET", "/v1/lookup?addresses=52:54:00:00:00:09,52:54:00:00:00:01", "", "b"},
		{"GET", "/v1/lookup?node_uuid=n1", "", "a"},
		{"PATCH", "/v1/ports/52:54:00:00:00:01", "[]", "b"},
		{"POST", "/v1/nodes", `{"conductor_group": "Rack-B", "driver": "redfish"}`, "rack-b"},
		{"POST", "/v1/nodes", `{"driver": "redfish"}`, ""},
		{"POST", "/v1/nodes", `{"driver`, ""},
		{"POST", "/ferrite/v1/import?conductor_group=Rack-B", `{"node": {}}`, "rack-b"},
		{"POST", "/ferrite/v1/import", `{"node": {}}`, ""},
		{"POST", "/v1/ports", `{"node_uuid": "n1"}`, "a"},
		{"POST", "/v1/volume/targets", `{"node_uuid": "n1"}`, "a"},
		{"POST", "/v1/allocations", `{"node": "n1"}`, "a"},
		{"POST", "/v1/allocations", `{"resource_class": "n1"}`, ""},
		{"DELETE", "/v1/allocations/alloc", "", "c"},
		{"GET", "/v1/allocations/alloc", "", ""},
		{"GET", "/apis/metal3.io/v1alpha1/baremetalhosts", "", ""},
	} {
		q := httptest.NewRequest(tc.method, tc.path, strings.NewReader(tc.body))
		got, err := groupOf(q, r, nil)
		if err != nil || got != tc.want {
			t.Errorf("%s %s %s: %q, %v, want %q", tc.method, tc.path, tc.body, got, err, tc.want)
		}
		if rest, err := io.ReadAll(q.Body); err != nil || string(rest) != tc.body {
			t.Errorf("%s %s: the body is %q, %v", tc.method, tc.path, rest, err)
		}
	}
}

// TestBodiesAreCounted: a body that is read to find a group is counted until its request ends. If there is no room for
// it, the client gets that as an error, and nothing is logged.
func TestBodiesAreCounted(t *testing.T) {
	m, _ := newMember(t, "m1", testKey(t, "k1"))
	m.sees("m1", "", 1)
	got := make(chan string, 1)
	m.leads(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		got <- fmt.Sprint(len(text), err)
	}))
	ended := make(chan struct{}, 1)
	var full error
	m.front.Bodies = func(r *http.Request) func() {
		r.Body = &readBody{&failing{r.Body, full}, r.Body}
		return func() { ended <- struct{}{} }
	}
	m.front.Failed = func(text string, _ ...any) { t.Error("logged:", text) }
	post := func() *http.Response {
		text := strings.NewReader(strings.Repeat(" ", 2*mostBody))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.outer.URL+"/v1/nodes", text)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Expect", "100-continue") // a refusal amid a body may be lost with the connection
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			t.Error("the body is still counted")
		}
		return answer
	}
	if answer := post(); answer.StatusCode != http.StatusOK || <-got != fmt.Sprint(2*mostBody, nil) {
		t.Errorf("a body that has room: %s", answer.Status)
	}
	full = nodeapi.NewFault(http.StatusServiceUnavailable, "Too many")
	if answer := post(); answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") != "" {
		t.Errorf("a body without room: %s %v", answer.Status, answer.Header)
	}
}

// failing is a body that ends with err, if it is one.
type failing struct {
	io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return f.Reader.Read(p)
}

// TestLeaderRefuses: if a member refuses a sender, the leader answers instead, because it has the audit. Other answers
// are the member's own.
func TestLeaderRefuses(t *testing.T) {
	m, _ := newMember(t, "m1", testKey(t, "k1"))
	m.sees("m1", "", 1)
	m.front.isLocal = func(r *http.Request, _ bool) bool { return r.URL.Path == "/v1/conductors" }
	m.front.local = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("From", "member")
		status, _ := strconv.Atoi(r.Header.Get("Status"))
		w.WriteHeader(status)
		fmt.Fprint(w, "member")
	})
	m.leads(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, "leader")
	}))
	for status, want := range map[string]string{"200": "member", "404": "member", "401": "leader", "403": "leader"} {
		answer, body, err := get(t, m.outer.URL+"/v1/conductors", "Status", status)
		if err != nil || body != want || (answer.Header.Get("From") == "") != (want == "leader") {
			t.Errorf("%s: %q %v %v, want the %s's", status, body, answer.Header, err, want)
		}
	}
}
