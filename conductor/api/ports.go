package api

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// portRoutes is the network interfaces of nodes.
func (a *API) portRoutes() []route {
	needsPort := func(*call) error { return badRequest("Missing mandatory parameter: port_uuid") }
	return []route{
		{method: http.MethodGet, path: "/v1/ports", doc: "ports, filtered, a page at a time", handle: a.listPorts},
		{method: http.MethodGet, path: "/v1/ports/detail", doc: "the same with all fields", handle: a.listPortsDetail},
		{method: http.MethodGet, path: "/v1/nodes/:node/ports", doc: "ports of one node", handle: a.listNodePorts},
		{method: http.MethodPost, path: "/v1/ports", doc: "add a port to a node", handle: a.createPort},
		{method: http.MethodPatch, path: "/v1/ports", doc: "refused: which port", handle: needsPort},
		{method: http.MethodDelete, path: "/v1/ports", doc: "refused: which port", handle: needsPort},
		{method: http.MethodGet, path: "/v1/ports/:port", doc: "one port", handle: a.showPort},
		{method: http.MethodPatch, path: "/v1/ports/:port", doc: "change fields of a port", handle: a.patchPort},
		{method: http.MethodDelete, path: "/v1/ports/:port", doc: "forget a port", handle: a.deletePort},
	}
}

// port reads the port a path names, by UUID only, when the caller may do with it
// what he asks.
func (a *API) port(c *call) (node.Port, error) {
	id, err := asUUID("port_uuid", c.Param("port"))
	if err != nil {
		return node.Port{}, err
	}
	p, err := a.conductor.Port(c.Request().Context(), id)
	missing := nodeapi.NewFault(http.StatusNotFound, "Port %s could not be found.", id)
	if isNotFound(err) {
		return p, missing
	}
	if err != nil || c.caller == nil {
		return p, err
	}
	n, err := a.conductor.Node(c.Request().Context(), p.NodeUUID)
	if err != nil {
		return p, err
	}
	return p, a.permit(c, c.rule, &n, missing)
}

func (a *API) answerPort(c *call, status int, p *node.Port, chosen selection) error {
	v := view[node.Port]{of: p, minor: c.minor, base: c.base()}
	return a.buffer(c, status, func(dst []byte) []byte { return a.ports.render(dst, chosen, &v) })
}

func (a *API) showPort(c *call) error {
	chosen := a.ports.full(c.minor)
	if fields := c.QueryParam("fields"); fields != "" {
		var err error
		if chosen, err = a.ports.asked(c.minor, fields); err != nil {
			return err
		}
	}
	p, err := a.port(c)
	if err != nil {
		return err
	}
	return a.answerPort(c, http.StatusOK, &p, chosen)
}

func (a *API) createPort(c *call) error {
	body, err := c.object("port")
	if err != nil {
		return err
	}
	if ident, ok := body["node_ident"]; ok && c.minor >= 94 {
		delete(body, "node_ident")
		if body["node_uuid"], err = a.nodeUUID(c, ident); err != nil {
			return err
		}
	}
	for _, key := range []string{"address", "node_uuid"} {
		if body[key] == nil {
			return badRequest("Schema error for port: '%s' is a required property", key)
		}
	}
	p := node.Port{PXEEnabled: true}
	if err := a.ports.fill(c.minor, body, &p); err != nil {
		return err
	}
	if _, err := a.bodyNode(c, p.NodeUUID); err != nil {
		return err
	}
	if p, err = a.conductor.CreatePort(c.Request().Context(), p); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, c.base()+"/v1/ports/"+p.UUID)
	return a.answerPort(c, http.StatusCreated, &p, a.ports.full(c.minor))
}

func (a *API) nodeUUID(c *call, ident any) (string, error) {
	ref, ok := ident.(string)
	if !ok || !validUUID(ref) && !validName(ref) {
		return "", badRequest("Expected UUID or name for node_ident: %s", spelt(ident))
	}
	n, err := a.bodyNode(c, ref)
	return n.UUID, err
}

// connectivity fields decide how a machine is plugged in; they change only
// while nobody relies on it.
func connectivity() []string {
	return []string{"local_link_connection", "portgroup_uuid", "physical_network", "pxe_enabled"}
}

func (a *API) patchPort(c *call) error {
	p, err := a.port(c)
	if err != nil {
		return err
	}
	ops, err := c.patch()
	if err != nil {
		return err
	}
	if err := a.ports.patchable(c.minor, ops); err != nil {
		return err
	}
	n, err := a.conductor.Node(c.Request().Context(), p.NodeUUID)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(ops, func(o operation) bool { return contains(connectivity(), o.field()) }) && !replugable(&n) {
		return node.Refuse(node.Conflict, "Port %s can not have any connectivity attributes (local_link_connection, pxe_enabled, portgroup_id, physical_network) updated unless node %s is in a enroll, inspecting, inspect wait, manageable state or in maintenance mode. The current state is %s.", p.UUID, n.UUID, n.ProvisionState)
	}
	p, err = a.conductor.UpdatePort(c.Request().Context(), p.UUID, func(p *node.Port) error {
		before := p.NodeUUID
		if err := a.ports.apply(ops, p); err != nil {
			return err
		}
		if p.NodeUUID != before {
			_, err := a.bodyNode(c, p.NodeUUID)
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.answerPort(c, http.StatusOK, &p, a.ports.full(c.minor))
}

func replugable(n *node.Node) bool {
	free := []node.State{node.Enroll, node.Inspecting, node.InspectWait, node.Manageable}
	return n.Maintenance || slices.Contains(free, n.ProvisionState)
}

func (a *API) deletePort(c *call) error {
	p, err := a.port(c)
	if err != nil {
		return err
	}
	if err := a.conductor.DeletePort(c.Request().Context(), p.UUID); err != nil {
		return err
	}
	return c.empty(http.StatusNoContent)
}

func (a *API) listPorts(c *call) error { return a.answerPorts(c, "", false) }

func (a *API) listPortsDetail(c *call) error {
	if c.QueryParams().Has("fields") {
		return badRequest("Unexpected arguments: fields")
	}
	return a.answerPorts(c, "", true)
}

func (a *API) listNodePorts(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	return a.answerPorts(c, n.UUID, false)
}

// portFilters is every filter of the list of ports. A node is looked up first.
func (a *API) portFilters(c *call) []filter[node.PortQuery] {
	type q = node.PortQuery
	byNode := func(q *q, v string) error {
		n, err := a.conductor.Node(c.Request().Context(), v)
		if isNotFound(err) || err == nil && !a.visible(c, &n) {
			return noNode(v)
		}
		q.NodeUUID = n.UUID
		return err
	}
	return []filter[q]{
		{"address", 1, func(q *q, v string) (err error) { q.Address, err = asMAC("address", v); return err }},
		{"node", 6, byNode},
		{"node_uuid", 1, func(q *q, v string) error {
			if _, err := asUUID("node_uuid", v); err != nil {
				return err
			}
			return byNode(q, v)
		}},
	}
}

func (a *API) answerPorts(c *call, nodeUUID string, detail bool) error {
	p, err := c.page(a.ports.sortKey, 8, 43)
	if err != nil {
		return err
	}
	q := node.PortQuery{NodeUUID: nodeUUID, Project: c.project(), Marker: p.marker, Limit: p.limit + 1}
	filters := a.portFilters(c)
	if nodeUUID != "" {
		filters = nil
	}
	if err := narrow(c, &q, filters, pageArgs()...); err != nil {
		return err
	}
	chosen := a.ports.pick(c.minor, defaultPortFields()...)
	if p.fields != "" {
		if chosen, err = a.ports.asked(c.minor, p.fields); err != nil {
			return err
		}
	} else if detail || p.detail {
		chosen = a.ports.full(c.minor)
	}
	ports, err := a.findPorts(c, q, p)
	if err != nil {
		return err
	}
	v := view[node.Port]{minor: c.minor, base: c.base()}
	return a.buffer(c, http.StatusOK, func(dst []byte) []byte {
		return appendList(dst, c, p, "ports", ports, func(p *node.Port) string { return p.UUID }, func(dst []byte, of *node.Port) []byte {
			v.of = of
			return a.ports.render(dst, chosen, &v)
		})
	})
}

// findPorts reads a page. The store keeps ports in the order of creation;
// another order is made here, of all that match.
func (a *API) findPorts(c *call, q node.PortQuery, p page) ([]node.Port, error) {
	ctx := c.Request().Context()
	if p.sortKey == "" && !p.desc {
		return a.conductor.Ports(ctx, q)
	}
	q.Marker, q.Limit = "", 0
	ports, err := a.conductor.Ports(ctx, q)
	if err != nil {
		return nil, err
	}
	return cut(a.ports, c.minor, ports, p, func(p *node.Port) string { return p.UUID }, func(ref string) error {
		return nodeapi.NewFault(http.StatusNotFound, "Port %s could not be found.", ref)
	})
}
