package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// portRoutes is the network interfaces of nodes.
func (a *API) portRoutes() []rest.Route {
	needsPort := func(*rest.Call) error { return rest.BadRequest("Missing mandatory parameter: port_uuid") }
	ofNode := rest.Lists(a.ports, "ports")
	page := rest.Lists(a.ports, "ports", rest.ArgumentsOf(a.portFilters(&rest.Call{Minor: nodeapi.MaxMinor}))...)
	return []rest.Route{
		{Method: http.MethodGet, Path: "/v1/ports", Doc: "ports, filtered, a page at a time", Handle: a.listPorts, Wire: page},
		{Method: http.MethodGet, Path: "/v1/ports/detail", Doc: "the same with all fields", Handle: a.listPortsDetail, Wire: page},
		{Method: http.MethodGet, Path: "/v1/nodes/:node/ports", Doc: "ports of one node", Handle: func(c *rest.Call) error { return a.listNodePorts(c, false) }, Wire: ofNode},
		{Method: http.MethodGet, Path: "/v1/nodes/:node/ports/detail", Doc: "the same with all fields", Handle: func(c *rest.Call) error { return a.listNodePorts(c, true) }, Wire: ofNode},
		{Method: http.MethodPost, Path: "/v1/ports", Doc: "add a port to a node", Handle: a.createPort, Wire: rest.Creates(a.ports, "address")},
		{Method: http.MethodPatch, Path: "/v1/ports", Doc: "refused: which port", Handle: needsPort},
		{Method: http.MethodDelete, Path: "/v1/ports", Doc: "refused: which port", Handle: needsPort},
		{Method: http.MethodGet, Path: "/v1/ports/:port", Doc: "one port", Handle: a.showPort, Wire: rest.Shows(a.ports)},
		{Method: http.MethodPatch, Path: "/v1/ports/:port", Doc: "change fields of a port", Handle: a.patchPort, Wire: rest.Patches(a.ports)},
		{Method: http.MethodDelete, Path: "/v1/ports/:port", Doc: "forget a port", Handle: a.deletePort},
	}
}

// portNames is the microversion from which on a port has a name.
const portNames = 88

func noPort(ref string) error {
	return nodeapi.NewFault(http.StatusNotFound, "Port %s could not be found.", ref)
}

// port reads the port a path names: a UUID, or a name since ports have any;
// when the caller may do with it what he asks.
func (a *API) port(c *rest.Call) (node.Port, error) {
	ref := strings.ToLower(c.Param("port"))
	switch {
	case rest.ValidUUID(ref):
	case c.Minor < portNames:
		return node.Port{}, rest.BadRequest("Expected UUID for port_uuid: %s", c.Param("port"))
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
	if err != nil || c.Caller == nil {
		return p, err
	}
	n, err := a.conductor.Node(c.Request().Context(), p.NodeUUID)
	if err != nil {
		return p, err
	}
	return p, a.permit(c, c.Rule, &n, noPort(ref))
}

func (a *API) answerPort(c *rest.Call, status int, p *node.Port, chosen rest.Selection) error {
	v := rest.View[node.Port]{Of: p, Minor: c.Minor, Base: c.BaseURL()}
	return a.Buffer(c, status, func(dst []byte) []byte { return a.ports.Render(dst, chosen, &v) })
}

func (a *API) showPort(c *rest.Call) error {
	chosen := a.ports.Full(c.Minor)
	if fields := c.QueryParam("fields"); fields != "" {
		var err error
		if chosen, err = a.ports.Selected(c.Minor, fields); err != nil {
			return err
		}
	}
	p, err := a.port(c)
	if err != nil {
		return err
	}
	return a.answerPort(c, http.StatusOK, &p, chosen)
}

func (a *API) createPort(c *rest.Call) error {
	body, err := c.Object("port")
	if err != nil {
		return err
	}
	if ident, ok := body["node_ident"]; ok && c.Minor >= 94 {
		delete(body, "node_ident")
		if body["node_uuid"], err = a.nodeUUID(c, ident); err != nil {
			return err
		}
	}
	for _, key := range []string{"address", "node_uuid"} {
		if body[key] == nil {
			return rest.BadRequest("Schema error for port: '%s' is a required property", key)
		}
	}
	p := node.Port{PXEEnabled: true}
	if err := a.ports.Fill(c.Minor, body, &p); err != nil {
		return err
	}
	if _, err := a.bodyNode(c, p.NodeUUID); err != nil {
		return err
	}
	if linkTooNew(c.Minor, p.LocalLinkConnection) {
		return rest.NotAcceptable()
	}
	if err := a.permitPortgroup(c, &p); err != nil {
		return err
	}
	if p, err = a.conductor.CreatePort(c.Request().Context(), p); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, c.BaseURL()+"/v1/ports/"+p.UUID)
	return a.answerPort(c, http.StatusCreated, &p, a.ports.Full(c.Minor))
}

// nodeUUID is the node that a body names by name or UUID: one that is not there
// makes a bad request.
func (a *API) nodeUUID(c *rest.Call, ident any) (string, error) {
	ref, ok := ident.(string)
	if !ok || !rest.ValidUUID(ref) && !node.ValidName(ref) {
		return "", rest.BadRequest("Expected UUID or name for node_ident: %s", spelt(ident))
	}
	n, err := a.bodyNode(c, ref)
	return n.UUID, err
}

func (a *API) patchPort(c *rest.Call) error {
	p, err := a.port(c)
	if err != nil {
		return err
	}
	ops, err := c.Patch()
	if err != nil {
		return err
	}
	if err := a.ports.Patchable(c.Minor, ops); err != nil {
		return err
	}
	touches := func(field string) bool {
		return slices.ContainsFunc(ops, func(o rest.Operation) bool { return o.Field() == field })
	}
	before := p.NodeUUID
	p, err = a.conductor.UpdatePort(c.Request().Context(), p.UUID, func(p *node.Port) error {
		if err := a.ports.Apply(ops, p); err != nil {
			return err
		}
		if err := a.permitMove(c, before, p.NodeUUID); err != nil {
			return err
		}
		if err := a.permitPortgroup(c, p); err != nil {
			return err
		}
		switch {
		case touches("local_link_connection") && linkTooNew(c.Minor, p.LocalLinkConnection):
			return rest.NotAcceptable()
		case touches("physical_network") && p.PortgroupUUID != "" && c.Minor >= portgroupNetworks:
			return rest.BadRequest("physical_network cannot be changed while the port belongs to a portgroup.")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.answerPort(c, http.StatusOK, &p, a.ports.Full(c.Minor))
}

func (a *API) deletePort(c *rest.Call) error {
	p, err := a.port(c)
	if err != nil {
		return err
	}
	return c.Done(a.conductor.DeletePort(c.Request().Context(), p.UUID))
}
