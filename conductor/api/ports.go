package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// portRoutes is the network interfaces of nodes.
func (a *API) portRoutes() []route {
	needsPort := func(*call) error { return badRequest("Missing mandatory parameter: port_uuid") }
	ofNode := lists(a.ports, "ports")
	page := lists(a.ports, "ports", argumentsOf(a.portFilters(&call{minor: nodeapi.MaxMinor}))...)
	return []route{
		{method: http.MethodGet, path: "/v1/ports", doc: "ports, filtered, a page at a time", handle: a.listPorts, wire: page},
		{method: http.MethodGet, path: "/v1/ports/detail", doc: "the same with all fields", handle: a.listPortsDetail, wire: page},
		{method: http.MethodGet, path: "/v1/nodes/:node/ports", doc: "ports of one node", handle: func(c *call) error { return a.listNodePorts(c, false) }, wire: ofNode},
		{method: http.MethodGet, path: "/v1/nodes/:node/ports/detail", doc: "the same with all fields", handle: func(c *call) error { return a.listNodePorts(c, true) }, wire: ofNode},
		{method: http.MethodPost, path: "/v1/ports", doc: "add a port to a node", handle: a.createPort, wire: adds(a.ports, "address")},
		{method: http.MethodPatch, path: "/v1/ports", doc: "refused: which port", handle: needsPort},
		{method: http.MethodDelete, path: "/v1/ports", doc: "refused: which port", handle: needsPort},
		{method: http.MethodGet, path: "/v1/ports/:port", doc: "one port", handle: a.showPort, wire: shows(a.ports)},
		{method: http.MethodPatch, path: "/v1/ports/:port", doc: "change fields of a port", handle: a.patchPort, wire: patches(a.ports)},
		{method: http.MethodDelete, path: "/v1/ports/:port", doc: "forget a port", handle: a.deletePort},
	}
}

// portNames is the microversion from which on a port has a name.
const portNames = 88

func noPort(ref string) error {
	return nodeapi.NewFault(http.StatusNotFound, "Port %s could not be found.", ref)
}

// port reads the port a path names: a UUID, or a name since ports have any;
// when the caller may do with it what he asks.
func (a *API) port(c *call) (node.Port, error) {
	ref := strings.ToLower(c.Param("port"))
	switch {
	case validUUID(ref):
	case c.minor < portNames:
		return node.Port{}, badRequest("Expected UUID for port_uuid: %s", c.Param("port"))
	default:
		ref = c.Param("port")
		if err := checkIdent("port_ident", ref); err != nil {
			return node.Port{}, err
		}
	}
	p, err := a.conductor.Port(c.Request().Context(), ref)
	if isNotFound(err) {
		return p, noPort(ref)
	}
	if err != nil || c.caller == nil {
		return p, err
	}
	n, err := a.conductor.Node(c.Request().Context(), p.NodeUUID)
	if err != nil {
		return p, err
	}
	return p, a.permit(c, c.rule, &n, noPort(ref))
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
	if linkTooNew(c.minor, p.LocalLinkConnection) {
		return notAcceptable()
	}
	if err := a.permitPortgroup(c, &p); err != nil {
		return err
	}
	if p, err = a.conductor.CreatePort(c.Request().Context(), p); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, c.base()+"/v1/ports/"+p.UUID)
	return a.answerPort(c, http.StatusCreated, &p, a.ports.full(c.minor))
}

// nodeUUID is the node that a body names by name or UUID: one that is not there
// makes a bad request.
func (a *API) nodeUUID(c *call, ident any) (string, error) {
	ref, ok := ident.(string)
	if !ok || !validUUID(ref) && !node.ValidName(ref) {
		return "", badRequest("Expected UUID or name for node_ident: %s", spelt(ident))
	}
	n, err := a.bodyNode(c, ref)
	return n.UUID, err
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
	touches := func(field string) bool {
		return slices.ContainsFunc(ops, func(o operation) bool { return o.field() == field })
	}
	before := p.NodeUUID
	p, err = a.conductor.UpdatePort(c.Request().Context(), p.UUID, func(p *node.Port) error {
		if err := a.ports.apply(ops, p); err != nil {
			return err
		}
		if err := a.permitMove(c, before, p.NodeUUID); err != nil {
			return err
		}
		if err := a.permitPortgroup(c, p); err != nil {
			return err
		}
		switch {
		case touches("local_link_connection") && linkTooNew(c.minor, p.LocalLinkConnection):
			return notAcceptable()
		case touches("physical_network") && p.PortgroupUUID != "" && c.minor >= portgroupNetworks:
			return badRequest("physical_network cannot be changed while the port belongs to a portgroup.")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.answerPort(c, http.StatusOK, &p, a.ports.full(c.minor))
}

func (a *API) deletePort(c *call) error {
	p, err := a.port(c)
	if err != nil {
		return err
	}
	return c.done(a.conductor.DeletePort(c.Request().Context(), p.UUID))
}
