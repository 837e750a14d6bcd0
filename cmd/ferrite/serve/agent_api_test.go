package serve

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
)

// TestAgentAPI: agents call an address of their own, which has no more of the API. The API refuses them.
func TestAgentAPI(t *testing.T) {
	c := start(t, t.TempDir(), "--agent-api-address", servetest.AnyPort)
	defer c.End(t)
	main := c.URL
	agents := agentsAddress(c)
	n := c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "name": "n1"}, http.StatusCreated)
	lookup, _ := n["uuid"].(string)
	lookup = "/v1/lookup?node_uuid=" + lookup
	c.Call(t, "GET", lookup, nil, http.StatusForbidden)
	c.URL = agents
	c.Call(t, "GET", "/v1", nil, http.StatusOK)
	c.Call(t, "GET", lookup, nil, http.StatusNotFound) // the node is at rest
	c.Call(t, "GET", "/v1/nodes", nil, http.StatusNotFound)
	c.Call(t, "GET", "/readyz", nil, http.StatusNotFound)
	c.URL = main
	c.Call(t, "PUT", "/v1/nodes/n1/states/provision", map[string]any{"target": "manage"}, http.StatusAccepted)
	c.Until(t, "n1", "manageable")
}

// agentsAddress is the URL of a conductor for agents, from its log.
func agentsAddress(c *conductor) string {
	_, rest, _ := strings.Cut(c.Log.String(), `msg="agents call here" url=`)
	url, _, _ := strings.Cut(rest, "\n")
	return url
}

// TestRamdiskURL: the kernel line names the address of agents, by the boot address where it listens on all.
func TestRamdiskURL(t *testing.T) {
	boot := netip.MustParseAddr("10.1.0.1")
	for want, c := range map[string]Config{
		"http://10.1.0.1:6385":      {APIAddress: "0.0.0.0:6385"},
		"http://10.1.0.1:6386":      {APIAddress: "192.0.2.1:6385", AgentAPI: "0.0.0.0:6386"},
		"https://10.2.0.9:6386":     {AgentAPI: "10.2.0.9:6386", TLSCert: "x"},
		"https://10.1.0.1:1":        {AgentAPI: "[::]:1", TLSCert: "x"},
		"https://proxy.example/met": {AgentAPI: "10.2.0.9:6386", AdvertiseURL: "https://proxy.example/met"},
	} {
		at := c.AgentAPI
		if at == "" {
			at = "127.0.0.1:6385" // the host of the API's address is not named
		}
		if got, err := c.ramdiskURL(hostAddr(at), boot); err != nil || got != want {
			t.Errorf("%+v: %q %v, want %q", c.AgentAPI, got, err, want)
		}
	}
}

// hostAddr is a net.Addr.
type hostAddr string

func (hostAddr) Network() string  { return "tcp" }
func (a hostAddr) String() string { return string(a) }
