package neutron_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/neutron"
	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/neutron/neutrontest"
)

type object = neutrontest.Object

// server is a Neutron in memory, which listens.
type server struct {
	*neutrontest.Server
	URL string
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := neutrontest.New()
	listener := httptest.NewServer(s)
	t.Cleanup(listener.Close)
	return &server{s, listener.URL}
}

// cloud is a Neutron, asked as its administrator would.
type cloud struct {
	t   *testing.T
	url string
}

func (c cloud) do(method, path string, body any) object {
	c.t.Helper()
	content := io.Reader(http.NoBody)
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			c.t.Fatal(err)
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.url+"/v2.0/"+path, content)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	var is object
	if raw, err := io.ReadAll(resp.Body); err != nil || len(raw) > 0 && json.Unmarshal(raw, &is) != nil ||
		resp.StatusCode >= http.StatusBadRequest {
		c.t.Fatalf("%s %s: %d %s %v", method, path, resp.StatusCode, raw, err)
	}
	return is
}

func (c cloud) network(name string) string {
	c.t.Helper()
	is := c.do(http.MethodPost, "networks", object{"network": object{"name": name}})
	return is["network"].(object)["id"].(string)
}

// vif is a new port of a network.
func (c cloud) vif(network any) string {
	c.t.Helper()
	is := c.do(http.MethodPost, "ports", object{"port": object{"network_id": network}})
	return is["port"].(object)["id"].(string)
}

func (c cloud) port(id string) object {
	c.t.Helper()
	return c.do(http.MethodGet, "ports/"+id, nil)["port"].(object)
}

// in are the ports of a network.
func (c cloud) in(network string) (all []object) {
	c.t.Helper()
	for _, p := range c.do(http.MethodGet, "ports?network_id="+network, nil)["ports"].([]any) {
		all = append(all, p.(object))
	}
	return all
}

func client(t *testing.T, url string, networks map[string]string) *neutron.Client {
	t.Helper()
	service, err := neutron.At(url+"/", http.DefaultTransport)
	if err != nil {
		t.Fatal(err)
	}
	return neutron.New(neutron.Config{Service: service, Networks: networks})
}
