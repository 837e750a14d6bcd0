package api

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// portResource is the ports of nodes.
type portResource struct {
	access
	fields *rest.Table[node.Port]
}

// routes is the network interfaces of nodes.
func (h *portResource) routes() []rest.Route {
	needsPort := func(*rest.Call) error { return rest.BadRequest("Missing mandatory parameter: port_uuid") }
	ofNode := rest.Lists(h.fields, "ports")
	page := rest.Lists(h.fields, "ports", rest.ArgumentsOf(h.portFilters(&rest.Call{Minor: nodeapi.MaxMinor}))...)
	return []rest.Route{
		{Method: http.MethodGet, Path: "/v1/ports", Doc: "ports, filtered, a page at a time",
			Handle: h.listPorts, Wire: page},
		{Method: http.MethodGet, Path: "/v1/ports/detail", Doc: "the same with all fields",
			Handle: h.listPortsDetail, Wire: page},
		{Method: http.MethodGet, Path: "/v1/nodes/:node/ports", Doc: "ports of one node",
			Handle: func(c *rest.Call) error { return h.listNodePorts(c, false) }, Wire: ofNode},
		{Method: http.MethodGet, Path: "/v1/nodes/:node/ports/detail", Doc: "the same with all fields",
			Handle: func(c *rest.Call) error { return h.listNodePorts(c, true) }, Wire: ofNode},
		{Method: http.MethodPost, Path: "/v1/ports", Doc: "add a port to a node", Handle: h.createPort,
			Wire: rest.Creates(h.fields, "address")},
		{Method: http.MethodPatch, Path: "/v1/ports", Doc: "refused: which port", Handle: needsPort},
		{Method: http.MethodDelete, Path: "/v1/ports", Doc: "refused: which port", Handle: needsPort},
		{Method: http.MethodGet, Path: "/v1/ports/:port", Doc: "one port", Handle: h.showPort, Wire: rest.Shows(h.fields)},
		{Method: http.MethodPatch, Path: "/v1/ports/:port", Doc: "change fields of a port", Handle: h.patchPort,
			Wire: rest.Patches(h.fields)},
		{Method: http.MethodDelete, Path: "/v1/ports/:port", Doc: "forget a port", Handle: h.deletePort},
	}
}

// portNames is the microversion from which on a port has a name.
const portNames = 88

func noPort(ref string) error {
	return nodeapi.NewFault(http.StatusNotFound, "Port %s could not be found.", ref)
}

func (h *portResource) answerPort(c *rest.Call, status int, p *node.Port, chosen rest.Selection) error {
	v := rest.View[node.Port]{Of: p, Minor: c.Minor, Base: c.BaseURL()}
	return h.Buffer(c, status, func(dst []byte) []byte { return h.fields.Render(dst, chosen, &v) })
}

func (h *portResource) showPort(c *rest.Call) error {
	chosen := h.fields.Full(c.Minor)
	if fields := c.QueryParam("fields"); fields != "" {
		var err error
		if chosen, err = h.fields.Selected(c.Minor, fields); err != nil {
			return err
		}
	}
	p, err := h.port(c)
	if err != nil {
		return err
	}
	return h.answerPort(c, http.StatusOK, &p, chosen)
}

func (h *portResource) createPort(c *rest.Call) error {
	body, err := c.Object("port")
	if err != nil {
		return err
	}
	if ident, ok := body["node_ident"]; ok && c.Minor >= 94 {
		delete(body, "node_ident")
		if body["node_uuid"], err = h.nodeUUID(c, ident); err != nil {
			return err
		}
	}
	for _, key := range []string{"address", "node_uuid"} {
		if body[key] == nil {
			return rest.BadRequest("Schema error for port: '%s' is a required property", key)
		}
	}
	p := node.Port{PXEEnabled: true}
	if err := h.fields.Fill(c.Minor, body, &p); err != nil {
		return err
	}
	if _, err := h.bodyNode(c, p.NodeUUID); err != nil {
		return err
	}
	if linkTooNew(c.Minor, p.LocalLinkConnection) {
		return rest.NotAcceptable()
	}
	if err := h.permitPortgroup(c, &p); err != nil {
		return err
	}
	if p, err = h.conductor.CreatePort(c.Request().Context(), p); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, c.BaseURL()+"/v1/ports/"+p.UUID)
	return h.answerPort(c, http.StatusCreated, &p, h.fields.Full(c.Minor))
}

// nodeUUID is the UUID of the node that a body names by name or UUID. A missing node is a bad request.
func (h *portResource) nodeUUID(c *rest.Call, ident any) (string, error) {
	ref, ok := ident.(string)
	if !ok || !rest.ValidUUID(ref) && !node.ValidName(ref) {
		return "", rest.BadRequest("Expected UUID or name for node_ident: %s", spelt(ident))
	}
	n, err := h.bodyNode(c, ref)
	return n.UUID, err
}

func (h *portResource) patchPort(c *rest.Call) error {
	p, err := h.port(c)
	if err != nil {
		return err
	}
	ops, err := c.Patch()
	if err != nil {
		return err
	}
	if err := h.fields.Patchable(c.Minor, ops); err != nil {
		return err
	}
	touches := func(field string) bool {
		return slices.ContainsFunc(ops, func(o rest.Operation) bool { return o.Field() == field })
	}
	before := p.NodeUUID
	p, err = h.conductor.UpdatePort(c.Request().Context(), p.UUID, func(p *node.Port) error {
		if err := h.fields.Apply(c, ops, p); err != nil {
			return err
		}
		if err := h.permitMove(c, before, p.NodeUUID); err != nil {
			return err
		}
		if err := h.permitPortgroup(c, p); err != nil {
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
	return h.answerPort(c, http.StatusOK, &p, h.fields.Full(c.Minor))
}

func (h *portResource) deletePort(c *rest.Call) error {
	p, err := h.port(c)
	if err != nil {
		return err
	}
	return c.Done(h.conductor.DeletePort(c.Request().Context(), p.UUID))
}
