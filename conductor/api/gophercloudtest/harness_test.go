package gophercloudtest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/noauth"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"

	"github.com/ferrite-metal/ferrite/conductor/agents"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// microversion is the newest that the library has a call for.
const microversion = "1.93"

// conductor is a whole one, with calls of the library that a test makes often.
type conductor struct {
	*apitest.Conductor
	t testing.TB
}

func newConductor(t testing.TB) *conductor {
	t.Helper()
	return &conductor{t: t, Conductor: apitest.Start(t, mem.New(), func(e *engine.Engine) map[string]rest.Handler {
		return agents.NewServer(agents.Options{Conductor: e, FailureRate: 1e9, FailureBurst: 1e9}).Handlers()
	})}
}

// client is a client without a password.
func (c *conductor) client() *gophercloud.ServiceClient {
	c.t.Helper()
	client, err := noauth.NewBareMetalNoAuth(noauth.EndpointOpts{IronicEndpoint: c.URL + "/v1"})
	if err != nil {
		c.t.Fatal(err)
	}
	client.Microversion = microversion
	return client
}

// create creates a node, asks for one verb after the other, and returns it as it was created.
func (c *conductor) create(client *gophercloud.ServiceClient, opts nodes.CreateOpts,
	verbs ...nodes.TargetProvisionState) *nodes.Node {
	c.t.Helper()
	n, err := nodes.Create(c.t.Context(), client, opts).Extract()
	if err != nil {
		c.t.Fatal(err)
	}
	for _, verb := range verbs {
		c.provision(client, n.UUID, nodes.ProvisionStateOpts{Target: verb})
	}
	return n
}

// provision asks for a change of state, and waits for its end.
func (c *conductor) provision(client *gophercloud.ServiceClient, id string, opts nodes.ProvisionStateOpts) {
	c.t.Helper()
	if err := nodes.ChangeProvisionState(c.t.Context(), client, id, opts).ExtractErr(); err != nil {
		c.t.Fatalf("%s: %v", opts.Target, err)
	}
	c.Settle(id)
}

// must sends a request for which the library has no call, in microversion 1.minor.
func (c *conductor) must(status, minor int, method, path, body string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.URL+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set(nodeapi.HeaderVersion, nodeapi.Version(minor))
	answer, err := c.Client().Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != status {
		c.t.Fatalf("%s %s %s at 1.%d: status %d, want %d: %s, %v", method, path, body, minor, answer.StatusCode, status, text,
			err)
	}
}
