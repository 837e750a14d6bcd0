package api

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// nodeRoutes is the collection of nodes and the node itself.
func (a *API) nodeRoutes() []rest.Route {
	needsNode := func(*rest.Call) error { return rest.BadRequest("Missing mandatory parameter: node_ident") }
	return []rest.Route{
		{Method: http.MethodGet, Path: "/v1/nodes", Doc: "nodes, filtered, sorted, a page at a time", Handle: a.listNodes, Wire: rest.Lists(a.nodes, "nodes", rest.ArgumentsOf(a.nodeFilters(&rest.Call{}))...)},
		{Method: http.MethodGet, Path: "/v1/nodes/detail", Doc: "the same with all fields", Handle: a.listNodesDetail, Wire: rest.Lists(a.nodes, "nodes", rest.ArgumentsOf(a.nodeFilters(&rest.Call{}))...)},
		{Method: http.MethodPost, Path: "/v1/nodes", Doc: "enroll a node", Handle: a.createNode, Wire: rest.Creates(a.nodes, "driver")},
		{Method: http.MethodPatch, Path: "/v1/nodes", Doc: "refused: which node", Handle: needsNode},
		{Method: http.MethodDelete, Path: "/v1/nodes", Doc: "refused: which node", Handle: needsNode},
		{Method: http.MethodGet, Path: "/v1/nodes/:node", Doc: "one node", Handle: a.showNode, Wire: rest.Shows(a.nodes)},
		{Method: http.MethodPatch, Path: "/v1/nodes/:node", Doc: "change fields of a node", Handle: a.patchNode, Wire: rest.Patches(a.nodes, "reset_interfaces")},
		{Method: http.MethodDelete, Path: "/v1/nodes/:node", Doc: "forget a node", Handle: a.deleteNode},
		{Method: http.MethodPost, Path: "/v1/nodes/:node", Doc: "refused: a node is posted to the collection", Handle: func(c *rest.Call) error {
			return rest.BadRequest("Schema error for node: '%s' is not of type 'object'", c.Param("node"))
		}},
		{Method: http.MethodGet, Path: "/v1/nodes/:node/:field", Doc: "refused: no such part", Handle: func(c *rest.Call) error {
			if strings.Contains(c.Param("field"), "/") {
				return nodeapi.Routing(http.StatusNotFound, "")
			}
			return rest.BadRequest("Field %s is not a valid field.", c.Param("field"))
		}},
	}
}

// nodeRef is the node a path names: a UUID, or a name from 1.5 on. It is checked
// for its form only.
func nodeRef(c *rest.Call) (string, error) {
	ref := c.Param("node")
	if c.Minor < 91 { // until then a suffix was taken for a content type
		ref = strings.TrimSuffix(ref, ".json")
	}
	if rest.ValidUUID(ref) {
		return strings.ToLower(ref), nil
	}
	if !node.ValidName(ref) {
		return "", nodeapi.Routing(http.StatusBadRequest, "Expected UUID or name for node: %s", ref)
	}
	if c.Minor < 5 {
		return "", noNode(ref)
	}
	return ref, nil
}

func noNode(ref string) error {
	return nodeapi.NewFault(http.StatusNotFound, "Node %s could not be found.", ref)
}

// node reads the node a path names, when the caller may do with it what he asks.
func (a *API) node(c *rest.Call) (node.Node, error) {
	ref, err := nodeRef(c)
	if err != nil {
		return node.Node{}, err
	}
	n, err := a.conductor.Node(c.Request().Context(), ref)
	if errors.Is(err, node.ErrNotFound) {
		return n, noNode(ref)
	}
	if err != nil || c.Caller == nil {
		return n, err
	}
	return n, a.permit(c, c.Rule, &n, noNode(ref))
}

// idle: a node at rest, with no chore under way, has no pending effect, and nobody has to
// be asked whether it does.
func idle(n *node.Node) bool { return n.Run == nil && n.Chore == "" }

// reserved says who works on a node.
func (a *API) reserved(c *rest.Call, n *node.Node) (string, error) {
	if idle(n) {
		return "", nil
	}
	return a.conductor.Reserved(c.Request().Context(), n.UUID)
}

// holder is reserved for a node that is to be shown: one that was on its way
// and is held by nobody has come to an end since it was read, so it is read
// again. Otherwise a client could see it free, and as it was before.
func (a *API) holder(c *rest.Call, n *node.Node) (string, error) {
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

func (a *API) showNode(c *rest.Call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	fields := c.QueryParam("fields")
	if err := rest.Unexpected(rest.SortedKeys(c.QueryParams()), []string{"fields", "node_ident"}); err != nil {
		return err
	}
	return a.answerNode(c, http.StatusOK, &n, fields)
}

// answerNode answers with one node, from the cache when it was rendered before.
func (a *API) answerNode(c *rest.Call, status int, n *node.Node, fields string) error {
	chosen := a.full[c.Minor]
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
	v := rest.View[node.Node]{Of: n, Minor: c.Minor, Base: c.BaseURL(), Host: a.conductor.ConductorName(), Reserved: holder, Caller: c.Caller}
	if !insider(c, n) {
		return a.Buffer(c, status, func(dst []byte) []byte { return a.nodes.Render(dst, chosen, &v) })
	}
	return c.Json(status, a.rendered(chosen, fields, &v))
}

// atRest: nothing of such a node's answer is known in memory alone.
func atRest(n *node.Node) bool { return n.Run == nil && n.ProvisionState.Class() != node.Failed }

// rendered returns a node at rest as it is shown with these fields, rendered
// once, for callers from whom nothing of it is kept. It is shared: not to be
// changed.
func (a *API) rendered(chosen rest.Selection, fields string, v *rest.View[node.Node]) []byte {
	key := rest.CacheKey{Uuid: v.Of.UUID, Created: v.Of.CreatedAt.UnixMicro(), Revision: v.Of.Revision, Minor: v.Minor, Fields: fields, Base: v.Base, Reserved: v.Reserved}
	if body, ok := a.cache.Get(key); ok {
		return body
	}
	body := slices.Clone(a.nodes.Render(make([]byte, 0, 3<<10), chosen, v)) // of its own size
	a.cache.Put(key, body)
	return body
}

// answerBusyNode answers with a node that is not at rest. It also says why, of
// which much is known in memory alone, so the answer is not kept.
func (a *API) answerBusyNode(c *rest.Call, status int, n *node.Node, chosen rest.Selection, holder string) error {
	st, err := a.conductor.Status(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	wire := wireStatus(st)
	v := rest.View[node.Node]{Of: n, Minor: c.Minor, Base: c.BaseURL(), Host: a.conductor.ConductorName(), Reserved: holder, Status: &wire, Caller: c.Caller}
	return a.Buffer(c, status, func(dst []byte) []byte { return a.nodes.Render(dst, chosen, &v) })
}

// chosen reads ?fields=, which came with 1.8.
func (a *API) chosen(c *rest.Call, fields string) (rest.Selection, error) {
	if c.Minor < 8 {
		return nil, rest.NotAcceptable()
	}
	return a.nodes.Selected(c.Minor, fields)
}

func (a *API) createNode(c *rest.Call) error {
	body, err := c.Object("node")
	if err != nil {
		return err
	}
	if body["driver"] == nil {
		return rest.BadRequest("Schema error for node: 'driver' is a required property")
	}
	var n node.Node
	if err := a.nodes.Fill(c.Minor, body, &n); err != nil {
		return err
	}
	if err := checkPasswordAgain(nil, n.DriverInfo, nil); err != nil {
		return err
	}
	if c.Minor < 11 { // the enroll state is newer
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
	c.Response().Header().Set(echo.HeaderLocation, c.BaseURL()+"/v1/nodes/"+n.UUID)
	return a.answerNode(c, http.StatusCreated, &n, "")
}

// permitParent: who sees only his own nodes makes no children of others.
func (a *API) permitParent(c *rest.Call, parent string) error {
	if parent == "" || c.Project() == "" {
		return nil
	}
	n, err := a.conductor.Node(c.Request().Context(), parent)
	if isNotFound(err) || err == nil && !a.visible(c, &n) {
		return rest.BadRequest("Node %s could not be found.", parent)
	}
	return err
}

func (a *API) deleteNode(c *rest.Call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	if err := a.conductor.DeleteNode(c.Request().Context(), n.UUID); err != nil {
		return err
	}
	return c.Empty(http.StatusNoContent)
}
