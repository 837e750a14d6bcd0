package api_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/agents"
	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagelibrary/librarytest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// conductor is a whole conductor, with a test's requests to it.
type conductor struct {
	*apitest.Conductor
	t testing.TB
}

func newConductor(t testing.TB) *conductor {
	t.Helper()
	return &conductor{t: t, Conductor: apitest.Start(t, mem.New(), func(e *engine.Engine) map[string]rest.Handler {
		return agents.NewServer(agents.Options{Conductor: e, FailureRate: 1e9, FailureBurst: 1e9}).Handlers()
	}, withImages(t))}
}

// withImages has a conductor keep images.
func withImages(t testing.TB) func(*api.Options) {
	return func(o *api.Options) { o.Images = librarytest.New(t, o.Conductor.Catalogs().Images) }
}

// reply is an answer, read.
type reply struct {
	status int
	header http.Header
	body   string
}

// doc is the body as JSON.
func (r reply) doc(t testing.TB) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(r.body), &m); err != nil {
		t.Fatalf("body %q: %v", r.body, err)
	}
	return m
}

// text is the text of an error.
func (r reply) text() string { return nodeapi.ParseFault(r.status, []byte(r.body)).Text }

// do sends a request in microversion 1.minor; 0 sends no version.
func (c *conductor) do(minor int, method, path, body string) reply {
	c.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, c.URL+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if minor > 0 {
		r.Header.Set(nodeapi.HeaderVersion, nodeapi.Version(minor))
	}
	return c.send(r)
}

func (c *conductor) send(r *http.Request) reply {
	c.t.Helper()
	resp, err := c.Client().Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(body)}
}

// must is do that expects a status.
func (c *conductor) must(status, minor int, method, path, body string) reply {
	c.t.Helper()
	r := c.do(minor, method, path, body)
	if r.status != status {
		c.t.Fatalf("%s %s %s at 1.%d: status %d, want %d: %s", method, path, body, minor, r.status, status, r.body)
	}
	return r
}

// settle waits until no conductor works on a node, and returns it.
func (c *conductor) settle(ref string) node.Node {
	c.t.Helper()
	return c.Settle(ref)
}

// provision asks for one verb after the other, each when the one before is done,
// and returns the node as the last has left it.
func (c *conductor) provision(ref string, targets ...string) (n node.Node) {
	c.t.Helper()
	for _, target := range targets {
		c.must(http.StatusAccepted, 115, "PUT", "/v1/nodes/"+ref+"/states/provision", `{"target":"`+target+`"}`)
		n = c.settle(ref)
	}
	return n
}

// allocated waits until an allocation has a node, or none, and returns it.
func (c *conductor) allocated(ref string) node.Allocation {
	c.t.Helper()
	return c.Allocated(ref)
}
