package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// subcollectionRoutes is what cannot be done to the lists of what belongs to a
// node, a chassis or a portgroup: they are there to be read. A record is added,
// changed, and shown by itself, in the collection that has its name.
func (a *API) subcollectionRoutes() []route {
	malformed := func(*call) error { return badRequest("Malformed request URI.") }
	var rows []route
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
				rows = append(rows, route{
					method: method, path: path, since: list.since, tooOld: nodeapi.Routing(http.StatusNotFound, ""),
					doc: "refused: it is done under /v1/" + list.of, handle: malformed,
				})
			}
		}
	}
	return append(rows, route{
		method: http.MethodGet, path: "/v1/nodes/:node/portgroups/:part/ports", since: portgroupOfSince, tooOld: nodeapi.Routing(http.StatusNotFound, ""),
		doc: "refused: it is done under /v1/portgroups", handle: func(*call) error { return nodeapi.NewFault(http.StatusForbidden, "Operation not permitted.") },
	})
}
