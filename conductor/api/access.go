package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// access reads the records that paths and bodies name, and checks the caller's rights to them.
type access struct {
	*rest.Server
	conductor Conductor
	hosts     Hosts
	policy    *auth.PolicyFile // nil for none
}

// node reads the node that a path names, if the caller may do this to it.
func (h *access) node(c *rest.Call) (node.Node, error) {
	ref, err := nodeRef(c)
	if err != nil {
		return node.Node{}, err
	}
	n, err := h.conductor.Node(c.Request().Context(), ref)
	if errors.Is(err, node.ErrNotFound) {
		return n, noNode(ref)
	}
	if err != nil || c.Caller == nil {
		return n, err
	}
	return n, h.permit(c, c.Rule, &n, noNode(ref))
}

// permit returns missing for a node that the caller may not see, and a denial where the rule does not allow the
// request.
func (h *access) permit(c *rest.Call, r *auth.Rule, n *node.Node, missing error) error {
	switch {
	case c.Caller == nil:
		return nil
	case !h.visible(c, n):
		return missing
	case !r.Allows(c.Caller, n.Owner, n.Lessee):
		return r.Denied()
	}
	return nil
}

// visible reports whether a caller may know that a node exists.
func (h *access) visible(c *rest.Call, n *node.Node) bool {
	return c.Caller == nil || h.Rules.Of(http.MethodGet, "/v1/nodes/:node", "").Allows(c.Caller, n.Owner, n.Lessee)
}

// reserved is the name of the conductor that has locked a node, "" for none.
func (h *access) reserved(c *rest.Call, n *node.Node) (string, error) {
	if idle(n) {
		return "", nil
	}
	return h.conductor.Reserved(c.Request().Context(), n.UUID)
}

// nodeOf is the UUID of the node that a filter names.
func (h *access) nodeOf(c *rest.Call, ref string) (string, error) {
	if err := checkIdent("node", ref); err != nil {
		return "", err
	}
	n, err := h.conductor.Node(c.Request().Context(), ref)
	if isNotFound(err) || err == nil && !h.visible(c, &n) {
		return "", noNode(ref)
	}
	return n.UUID, err
}

// port reads the port that a path names, if the caller may do this to it. The path has a UUID, or a name in
// microversions with names of ports.
func (h *access) port(c *rest.Call) (node.Port, error) {
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
	p, err := h.conductor.Port(c.Request().Context(), ref)
	if isNotFound(err) {
		return p, noPort(ref)
	}
	if err != nil || c.Caller == nil {
		return p, err
	}
	n, err := h.conductor.Node(c.Request().Context(), p.NodeUUID)
	if err != nil {
		return p, err
	}
	return p, h.permit(c, c.Rule, &n, noPort(ref))
}

// uuidsOf is the UUIDs of the nodes that one of the queries finds.
func (h *access) uuidsOf(c *rest.Call, queries []node.Query) (map[string]bool, error) {
	found := map[string]bool{}
	for _, q := range queries {
		q.WithChildren = true
		uuids, err := h.conductor.NodeUUIDs(c.Request().Context(), q)
		if err != nil {
			return nil, err
		}
		for _, uuid := range uuids {
			found[uuid] = true
		}
	}
	return found, nil
}

// known answers 404 for a node or port in the path that the caller may not know of.
func (h *access) known(c *rest.Call) error {
	if c.Param("node") != "" {
		if _, err := h.node(c); err != nil {
			return err
		}
	}
	if c.Param("port") != "" {
		if _, err := h.port(c); err != nil {
			return err
		}
	}
	return nil
}
