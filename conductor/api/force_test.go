package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// oneHost is the documents of a conductor with a host behind the node "hosted".
type oneHost struct{}

func (oneHost) RefuseVerb(_ context.Context, n node.Node, r plan.Request) error {
	if n.Name == "hosted" && (r.Verb == node.Delete || r.Verb == plan.Forget) {
		return node.Refuse(node.Conflict, "it is the host's")
	}
	return nil
}

// TestForce: a request that a host refuses is taken with X-Ferrite-Force: true, and with nothing else.
func TestForce(t *testing.T) {
	store := mem.New()
	c := &conductor{t: t, Conductor: apitest.Start(t, store, nil, func(o *api.Options) { o.Hosts = oneHost{} })}
	id := place(t, c, store, node.Active)
	c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/"+id, `[{"op":"add","path":"/name","value":"hosted"}]`)
	send := func(method, path, force, body string) reply {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, c.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(nodeapi.HeaderVersion, nodeapi.Version(115))
		if force != "" {
			r.Header.Set("X-Ferrite-Force", force)
		}
		return c.send(r)
	}
	for force, want := range map[string]int{"": 409, "false": 409, "yes": 400} {
		for _, r := range []reply{
			send("PUT", "/v1/nodes/hosted/states/provision", force, `{"target":"deleted"}`),
			send("DELETE", "/v1/nodes/hosted", force, ""),
		} {
			if r.status != want || want == 409 && r.text() != "it is the host's" {
				t.Errorf("force %q: %d %s, want %d", force, r.status, r.body, want)
			}
		}
	}
	if r := send("PUT", "/v1/nodes/hosted/states/provision", "", `{"target":"abort"}`); r.status == http.StatusConflict {
		t.Errorf("abort: %d %s", r.status, r.body)
	}
	if r := send("PUT", "/v1/nodes/hosted/states/provision", "true", `{"target":"deleted"}`); r.status != 202 {
		t.Errorf("forced: %d %s", r.status, r.body)
	}
	other := place(t, c, store, node.Manageable)
	if r := send("DELETE", "/v1/nodes/"+other, "", ""); r.status != http.StatusNoContent {
		t.Errorf("another node: %d %s", r.status, r.body)
	}
}
