package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// rootResource is the entry points of the API.
type rootResource struct{ access }

// routes serves discovery, the first requests of a client.
func (h *rootResource) routes() []rest.Route {
	malformed := func(*rest.Call) error {
		return nodeapi.NewFault(http.StatusMethodNotAllowed,
			"The server could not comply with the request since it is either malformed or otherwise incorrect.")
	}
	return []rest.Route{
		{Method: http.MethodGet, Path: "/", Doc: "the API and its versions", Handle: h.discovery,
			Wire: rest.Returns(rest.FormOf(nodeapi.Discovery{}))},
		{Method: http.MethodGet, Path: "/v1", Doc: "the resources and the microversions", Handle: h.versionRoot,
			Wire: rest.Returns(rootForm())},
		{Method: http.MethodPost, Path: "/v1", Doc: "refused", Handle: malformed},
	}
}

func versionInfo(base string) nodeapi.VersionInfo {
	return nodeapi.VersionInfo{
		ID:         "v1",
		Links:      []nodeapi.Link{{Href: base + "/v1/", Rel: "self"}},
		Status:     "CURRENT",
		MinVersion: nodeapi.Version(nodeapi.MinMinor),
		Version:    nodeapi.Version(nodeapi.MaxMinor),
	}
}

func (h *rootResource) discovery(c *rest.Call) error {
	v := versionInfo(c.BaseURL())
	return c.Marshal(http.StatusOK, nodeapi.Discovery{
		Name: "OpenStack Ironic API",
		Description: "Ferrite speaks the Bare Metal API of OpenStack Ironic: it turns racks of powered-off machines " +
			"into running ones.",
		DefaultVersion: v,
		Versions:       []nodeapi.VersionInfo{v},
	})
}

// resources are the links of GET /v1, each with its first microversion.
func resources() map[string]int {
	return map[string]int{
		"nodes":               1,
		"ports":               1,
		"drivers":             1,
		"chassis":             1,
		"lookup":              22,
		"heartbeat":           22,
		"portgroups":          23,
		"volume":              32,
		"conductors":          49,
		"allocations":         52,
		"events":              54,
		"deploy_templates":    55,
		"shards":              82,
		"continue_inspection": 84,
		"runbooks":            92,
		"inspection_rules":    96,
	}
}

func (h *rootResource) versionRoot(c *rest.Call) error {
	base := c.BaseURL()
	doc := map[string]any{
		"id":          "v1",
		"links":       versionInfo(base).Links,
		"media_types": map[string]string{"base": "application/json", "type": "application/vnd.openstack.ironic.v1+json"},
		"version":     versionInfo(base),
	}
	for name, since := range resources() {
		if since <= c.Minor {
			doc[name] = c.Links(name + "/")
		}
	}
	return c.Marshal(http.StatusOK, doc)
}
