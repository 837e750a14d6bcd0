package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// subcollectionResource refuses writes to the lists below a node.
type subcollectionResource struct{ access }

// routes refuses writes to the lists below a node, a chassis or a portgroup: these are read-only. Clients add, change
// and show a record by the collection that has its name.
func (h *subcollectionResource) routes() []rest.Route {
	malformed := func(*rest.Call) error { return rest.BadRequest("Malformed request URI.") }
	var rows []rest.Route
	for _, list := range []struct {
		path, of string
		since    int
	}{
		{"/v1/nodes/:node/ports", "ports", 1},
		{"/v1/nodes/:node/portgroups", "portgroups", portgroupOfSince},
		{"/v1/nodes/:node/volume/connectors", "volume/connectors", volumeSince},
		{"/v1/nodes/:node/volume/targets", "volume/targets", volumeSince},
		{"/v1/portgroups/:ident/ports", "ports", portgroupOfSince},
		{"/v1/chassis/:ident/nodes", "nodes", 1},
	} {
		for path, methods := range map[string][]string{
			list.path:            {http.MethodPost, http.MethodPatch, http.MethodDelete},
			list.path + "/:part": {http.MethodGet, http.MethodPatch, http.MethodDelete},
		} {
			for _, method := range methods {
				rows = append(rows, rest.Route{
					Method: method, Path: path, Since: list.since, TooOld: nodeapi.Routing(http.StatusNotFound, ""),
					Doc: "refused: it is done under /v1/" + list.of, Handle: malformed,
				})
			}
		}
	}
	return append(rows, rest.Route{
		Method: http.MethodGet, Path: "/v1/nodes/:node/portgroups/:part/ports", Since: portgroupOfSince,
		TooOld: nodeapi.Routing(http.StatusNotFound, ""),
		Doc:    "refused: it is done under /v1/portgroups", Handle: func(*rest.Call) error {
			return nodeapi.NewFault(http.StatusForbidden, "Operation not permitted.")
		},
	})
}
