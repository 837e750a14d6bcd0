package api

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// nodeRoutes is the collection of nodes and the node itself.
func (a *API) nodeRoutes() []route {
	needsNode := func(*call) error { return badRequest("Missing mandatory parameter: node_ident") }
	return []route{
		{method: http.MethodGet, path: "/v1/nodes", doc: "nodes, filtered, sorted, a page at a time", handle: a.listNodes, wire: lists(a.nodes, "nodes", argumentsOf(a.nodeFilters(&call{}))...)},
		{method: http.MethodGet, path: "/v1/nodes/detail", doc: "the same with all fields", handle: a.listNodesDetail, wire: lists(a.nodes, "nodes", argumentsOf(a.nodeFilters(&call{}))...)},
		{method: http.MethodPost, path: "/v1/nodes", doc: "enroll a node", handle: a.createNode, wire: adds(a.nodes, "driver")},
		{method: http.MethodPatch, path: "/v1/nodes", doc: "refused: which node", handle: needsNode},
		{method: http.MethodDelete, path: "/v1/nodes", doc: "refused: which node", handle: needsNode},
		{method: http.MethodGet, path: "/v1/nodes/:node", doc: "one node", handle: a.showNode, wire: shows(a.nodes)},
		{method: http.MethodPatch, path: "/v1/nodes/:node", doc: "change fields of a node", handle: a.patchNode, wire: patches(a.nodes, "reset_interfaces")},
		{method: http.MethodDelete, path: "/v1/nodes/:node", doc: "forget a node", handle: a.deleteNode},
		{method: http.MethodPost, path: "/v1/nodes/:node", doc: "refused: a node is posted to the collection", handle: func(c *call) error {
			return badRequest("Schema error for node: '%s' is not of type 'object'", c.Param("node"))
		}},
		{method: http.MethodGet, path: "/v1/nodes/:node/:field", doc: "refused: no such part", handle: func(c *call) error {
			if strings.Contains(c.Param("field"), "/") {
				return nodeapi.Routing(http.StatusNotFound, "")
			}
			return badRequest("Field %s is not a valid field.", c.Param("field"))
		}},
	}
}

// nodeRef is the node a path names: a UUID, or a name from 1.5 on. It is checked
// for its form only.
func nodeRef(c *call) (string, error) {
	ref := c.Param("node")
	if c.minor < 91 { // until then a suffix was taken for a content type
		ref = strings.TrimSuffix(ref, ".json")
	}
	if validUUID(ref) {
		return strings.ToLower(ref), nil
	}
	if !node.ValidName(ref) {
		return "", nodeapi.Routing(http.StatusBadRequest, "Expected UUID or name for node: %s", ref)
	}
	if c.minor < 5 {
		return "", noNode(ref)
	}
	return ref, nil
}

func noNode(ref string) error {
	return nodeapi.NewFault(http.StatusNotFound, "Node %s could not be found.", ref)
}

// node reads the node a path names, when the caller may do with it what he asks.
func (a *API) node(c *call) (node.Node, error) {
	ref, err := nodeRef(c)
	if err != nil {
		return node.Node{}, err
	}
	n, err := a.conductor.Node(c.Request().Context(), ref)
	if errors.Is(err, node.ErrNotFound) {
		return n, noNode(ref)
	}
	if err != nil || c.caller == nil {
		return n, err
	}
	return n, a.permit(c, c.rule, &n, noNode(ref))
}

// idle: a node at rest, with no chore under way, has no pending effect, and nobody has to
// be asked whether it does.
func idle(n *node.Node) bool { return n.Run == nil && n.Chore == "" }

// reserved says who works on a node.
func (a *API) reserved(c *call, n *node.Node) (string, error) {
	if idle(n) {
		return "", nil
	}
	return a.conductor.Reserved(c.Request().Context(), n.UUID)
}

// holder is reserved for a node that is to be shown: one that was on its way
// and is held by nobody has come to an end since it was read, so it is read
// again. Otherwise a client could see it free, and as it was before.
func (a *API) holder(c *call, n *node.Node) (string, error) {
	holder, err := a.reserved(c, n)
	if err != nil || holder != "" || idle(n) {
		return holder, err
	}
	fresh, err := a.conductor.Node(c.Request().Context(), n.UUID)
	if errors.Is(err, node.ErrNotFound) {
		return "", nil // deleted meanwhile: what was read was true
	}
	if err != nil {
		return "", err
	}
	*n = fresh
	return a.reserved(c, n)
}

func (a *API) showNode(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	fields := c.QueryParam("fields")
	if err := unexpected(sortedKeys(c.QueryParams()), []string{"fields", "node_ident"}); err != nil {
		return err
	}
	return a.answerNode(c, http.StatusOK, &n, fields)
}

// answerNode answers with one node, from the cache when it was rendered before.
func (a *API) answerNode(c *call, status int, n *node.Node, fields string) error {
	chosen := a.full[c.minor]
	if fields != "" {
		var err error
		if chosen, err = a.chosen(c, fields); err != nil {
			return err
		}
	}
	holder, err := a.holder(c, n)
	if err != nil {
		return err
	}
	if !atRest(n) {
		return a.answerBusyNode(c, status, n, chosen, holder)
	}
	v := view[node.Node]{of: n, minor: c.minor, base: c.base(), host: a.conductor.ConductorName(), reserved: holder, caller: c.caller}
	if !insider(c, n) {
		return a.buffer(c, status, func(dst []byte) []byte { return a.nodes.render(dst, chosen, &v) })
	}
	return c.json(status, a.rendered(chosen, fields, &v))
}

// atRest: nothing of such a node's answer is known in memory alone.
func atRest(n *node.Node) bool { return n.Run == nil && n.ProvisionState.Class() != node.Failed }

// rendered returns a node at rest as it is shown with these fields, rendered
// once, for callers from whom nothing of it is kept. It is shared: not to be
// changed.
func (a *API) rendered(chosen selection, fields string, v *view[node.Node]) []byte {
	key := cacheKey{v.of.UUID, v.of.CreatedAt.UnixMicro(), v.of.Revision, v.minor, fields, v.base, v.reserved}
	if body, ok := a.cache.get(key); ok {
		return body
	}
	body := slices.Clone(a.nodes.render(make([]byte, 0, 3<<10), chosen, v)) // of its own size
	a.cache.put(key, body)
	return body
}

// answerBusyNode answers with a node that is not at rest. It also says why, of
// which much is known in memory alone, so the answer is not kept.
func (a *API) answerBusyNode(c *call, status int, n *node.Node, chosen selection, holder string) error {
	st, err := a.conductor.Status(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	wire := wireStatus(st)
	v := view[node.Node]{of: n, minor: c.minor, base: c.base(), host: a.conductor.ConductorName(), reserved: holder, status: &wire, caller: c.caller}
	return a.buffer(c, status, func(dst []byte) []byte { return a.nodes.render(dst, chosen, &v) })
}

// chosen reads ?fields=, which came with 1.8.
func (a *API) chosen(c *call, fields string) (selection, error) {
	if c.minor < 8 {
		return nil, notAcceptable()
	}
	return a.nodes.asked(c.minor, fields)
}

func (a *API) createNode(c *call) error {
	body, err := c.object("node")
	if err != nil {
		return err
	}
	if body["driver"] == nil {
		return badRequest("Schema error for node: 'driver' is a required property")
	}
	var n node.Node
	if err := a.nodes.fill(c.minor, body, &n); err != nil {
		return err
	}
	if err := checkPasswordAgain(nil, n.DriverInfo, nil); err != nil {
		return err
	}
	if c.minor < 11 { // the enroll state is newer
		n.ProvisionState = node.Available
	}
	if err := claimProject(c, "node", &n.Owner); err != nil {
		return err
	}
	if err := a.permitParent(c, n.ParentNode); err != nil {
		return err
	}
	if err := a.permitNew(c, body, &n); err != nil {
		return err
	}
	n, err = a.conductor.CreateNode(c.Request().Context(), n)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, c.base()+"/v1/nodes/"+n.UUID)
	return a.answerNode(c, http.StatusCreated, &n, "")
}

// permitParent: who sees only his own nodes makes no children of others.
func (a *API) permitParent(c *call, parent string) error {
	if parent == "" || c.project() == "" {
		return nil
	}
	n, err := a.conductor.Node(c.Request().Context(), parent)
	if isNotFound(err) || err == nil && !a.visible(c, &n) {
		return badRequest("Node %s could not be found.", parent)
	}
	return err
}

func (a *API) deleteNode(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	if err := a.conductor.DeleteNode(c.Request().Context(), n.UUID); err != nil {
		return err
	}
	return c.empty(http.StatusNoContent)
}
