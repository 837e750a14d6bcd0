package api

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// nodeResource is the nodes themselves.
type nodeResource struct {
	access
	fields  *rest.Table[node.Node]
	full    [nodeapi.MaxMinor + 1]rest.Selection // all fields by minor version
	cache   *rest.Cache
	leaders Leaders
}

func newNodeResource(at access, leaders Leaders, cacheBytes int) *nodeResource {
	h := &nodeResource{access: at, fields: nodeTable(at.Rules, leaders), cache: rest.NewCache(cacheBytes),
		leaders: leaders}
	for minor := range h.full {
		h.full[minor] = h.fields.Full(minor)
	}
	return h
}

// routes is the collection of nodes and the node itself.
func (h *nodeResource) routes() []rest.Route {
	needsNode := func(*rest.Call) error { return rest.BadRequest("Missing mandatory parameter: node_ident") }
	return []rest.Route{
		{Method: http.MethodGet, Path: "/v1/nodes", Doc: "nodes, filtered, sorted, a page at a time", Handle: h.listNodes,
			Wire: rest.Lists(h.fields, "nodes", rest.ArgumentsOf(h.nodeFilters(&rest.Call{}))...)},
		{Method: http.MethodGet, Path: "/v1/nodes/detail", Doc: "the same with all fields", Handle: h.listNodesDetail,
			Wire: rest.Lists(h.fields, "nodes", rest.ArgumentsOf(h.nodeFilters(&rest.Call{}))...)},
		{Method: http.MethodPost, Path: "/v1/nodes", Doc: "enroll a node", Handle: h.createNode,
			Forcible: forceMachine,
			Wire:     rest.Creates(h.fields, "driver")},
		{Method: http.MethodPatch, Path: "/v1/nodes", Doc: "refused: which node", Handle: needsNode},
		{Method: http.MethodDelete, Path: "/v1/nodes", Doc: "refused: which node", Handle: needsNode},
		{Method: http.MethodGet, Path: "/v1/nodes/:node", Doc: "one node", Handle: h.showNode, Wire: rest.Shows(h.fields)},
		{Method: http.MethodPatch, Path: "/v1/nodes/:node", Doc: "change fields of a node", Handle: h.patchNode,
			Forcible: forceMachine,
			Wire:     rest.Patches(h.fields, "reset_interfaces")},
		{Method: http.MethodDelete, Path: "/v1/nodes/:node", Doc: "forget a node", Handle: h.deleteNode,
			Forcible: "nodes of hosts (BareMetalHost)"},
		{Method: http.MethodPost, Path: "/v1/nodes/:node", Doc: "refused: a node is posted to the collection",
			Handle: func(c *rest.Call) error {
				return rest.BadRequest("Schema error for node: '%s' is not of type 'object'", c.Param("node"))
			}},
		{Method: http.MethodGet, Path: "/v1/nodes/:node/:field", Doc: "refused: no such part",
			Handle: func(c *rest.Call) error {
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

// idle reports whether a node is at rest, with no chore under way. It then has no pending effect, and its reservation
// need not be read.
func idle(n *node.Node) bool { return n.Run == nil && n.Chore == "" }

// holder is reserved for a node in an answer. A node that was not idle, but has no reservation now, has finished since
// it was read. So holder reads it again. Otherwise a client could see it free, in its former state.
func (h *nodeResource) holder(c *rest.Call, n *node.Node) (string, error) {
	holder, err := h.reserved(c, n)
	if err != nil || holder != "" || idle(n) {
		return holder, err
	}
	fresh, err := h.conductor.Node(c.Request().Context(), n.UUID)
	if errors.Is(err, node.ErrNotFound) {
		return "", nil // deleted meanwhile: the node was as read
	}
	if err != nil {
		return "", err
	}
	*n = fresh
	return h.reserved(c, n)
}

func (h *nodeResource) showNode(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	fields := c.QueryParam("fields")
	if err := rest.Unexpected(rest.SortedKeys(c.QueryParams()), []string{"fields", "node_ident"}); err != nil {
		return err
	}
	return h.answerNode(c, http.StatusOK, &n, fields)
}

// answerNode answers with one node, from the cache when it was rendered before.
func (h *nodeResource) answerNode(c *rest.Call, status int, n *node.Node, fields string) error {
	chosen := h.full[c.Minor]
	if fields != "" {
		var err error
		if chosen, err = h.chosen(c, fields); err != nil {
			return err
		}
	}
	holder, err := h.holder(c, n)
	if err != nil {
		return err
	}
	if !atRest(n) {
		return h.answerBusyNode(c, status, n, chosen, holder)
	}
	v := rest.View[node.Node]{Of: n, Minor: c.Minor, Base: c.BaseURL(), Host: h.hostOf(n),
		Reserved: holder, Caller: c.Caller}
	if !insider(c, n) {
		return h.Buffer(c, status, func(dst []byte) []byte { return h.fields.Render(dst, chosen, &v) })
	}
	return c.RawJSON(status, h.rendered(chosen, fields, &v))
}

// hostOf is the conductor that leads the group of a node, "" while there is none.
func (h *nodeResource) hostOf(n *node.Node) string {
	return h.leaders.Leader(n.ConductorGroup)
}

// atRest reports whether the answer for a node has no part that only the memory holds.
func atRest(n *node.Node) bool { return n.Run == nil && n.ProvisionState.Class() != node.Failed }

// rendered returns the JSON of a node at rest with these fields, from the cache if possible. It is for callers that may
// see all of the node. The slice is shared: do not change it.
func (h *nodeResource) rendered(chosen rest.Selection, fields string, v *rest.View[node.Node]) []byte {
	key := rest.CacheKey{UUID: v.Of.UUID, Created: v.Of.CreatedAt.UnixMicro(), Revision: v.Of.Revision, Minor: v.Minor,
		Fields: fields, Base: v.Base, Host: v.Host, Reserved: v.Reserved}
	if body, ok := h.cache.Get(key); ok {
		return body
	}
	body := slices.Clone(h.fields.Render(make([]byte, 0, 3<<10), chosen, v)) // of its own size
	h.cache.Put(key, body)
	return body
}

// answerBusyNode answers with a node that is not at rest, and with the reason. Much of that is only in memory, so the
// answer is not cached.
func (h *nodeResource) answerBusyNode(c *rest.Call, status int, n *node.Node, chosen rest.Selection,
	holder string) error {
	st, err := h.conductor.Status(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	wire := wireStatus(st)
	v := rest.View[node.Node]{Of: n, Minor: c.Minor, Base: c.BaseURL(), Host: h.hostOf(n),
		Reserved: holder, Status: &wire, Caller: c.Caller}
	return h.Buffer(c, status, func(dst []byte) []byte { return h.fields.Render(dst, chosen, &v) })
}

// chosen reads ?fields=, which came with 1.8.
func (h *nodeResource) chosen(c *rest.Call, fields string) (rest.Selection, error) {
	if c.Minor < 8 {
		return nil, rest.NotAcceptable()
	}
	return h.fields.Selected(c.Minor, fields)
}

func (h *nodeResource) createNode(c *rest.Call) error {
	body, err := c.Object("node")
	if err != nil {
		return err
	}
	if body["driver"] == nil {
		return rest.BadRequest("Schema error for node: 'driver' is a required property")
	}
	var n node.Node
	if err := h.fields.Fill(c.Minor, body, &n); err != nil {
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
	if err := permitName(c, "", n.Name); err != nil {
		return err
	}
	if err := h.resolveParent(c, "", &n); err != nil {
		return err
	}
	if err := h.permitNew(c, body, &n); err != nil {
		return err
	}
	n, err = h.enroll(c, n)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, c.BaseURL()+"/v1/nodes/"+n.UUID)
	return h.answerNode(c, http.StatusCreated, &n, "")
}

// enroll stores a new node, unless another node has its machine. With force the node may share it.
func (h *nodeResource) enroll(c *rest.Call, n node.Node) (node.Node, error) {
	if !c.Forced {
		if err := h.refuseSameMachine(c, n); err != nil {
			return n, err
		}
	}
	n.SharesMachine = c.Forced
	n, err := h.conductor.CreateNode(c.Request().Context(), n)
	return n, h.nameMachine(c, err)
}

// permitName refuses users of a project the names of hosts' nodes, namespace~host: such a node would keep its host from
// being registered.
func permitName(c *rest.Call, was, name string) error {
	if c.Project() == "" || name == was || !strings.Contains(name, "~") {
		return nil
	}
	return rest.BadRequest("The name %.80s has a ~, as those of the nodes of hosts: expected another name", name)
}

// resolveParent puts the UUID in the place of a new parent's name. It refuses three parents with the same answer: a
// missing node, a node that is hidden from the caller, and a node of another owner, which could run steps here
// (OpenStack bug 2150450).
func (h *nodeResource) resolveParent(c *rest.Call, before string, n *node.Node) error {
	ref := n.ParentNode
	if ref == before || ref == "" {
		return nil
	}
	if rest.ValidUUID(ref) {
		ref = strings.ToLower(ref)
	}
	parent, err := h.conductor.Node(c.Request().Context(), ref)
	if isNotFound(err) || err == nil && (!h.visible(c, &parent) || parent.Owner != n.Owner) {
		return rest.BadRequest("Unable to apply the requested parent_node '%s'. Requested value was invalid: expected the "+
			"UUID or name of a node of the same owner.", n.ParentNode)
	}
	n.ParentNode = parent.UUID
	return err
}

func (h *nodeResource) deleteNode(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	if !c.Forced {
		if err := h.hosts.RefuseVerb(c.Request().Context(), n, plan.Request{Verb: plan.Forget}); err != nil {
			return err
		}
	}
	if err := h.conductor.DeleteNode(c.Request().Context(), n.UUID); err != nil {
		return err
	}
	return c.Empty(http.StatusNoContent)
}
