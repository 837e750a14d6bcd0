package api

import (
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// permitFields refuses a patch of a field with a rule that denies the caller. owner and lessee are the projects of the
// patched resource.
func (h *access) permitFields(c *rest.Call, path string, ops []rest.Operation, owner, lessee string) error {
	if c.Caller == nil {
		return nil
	}
	for _, o := range ops {
		field := o.Field()
		switch {
		case strings.HasSuffix(field, "_interface"):
			field = "{}_interface"
		case field == "automated_clean" && saysNo(o.Raw["value"]):
			field += " off"
		}
		if r := h.Rules[auth.Key(http.MethodPatch, path, field)]; r != nil && !r.Allows(c.Caller, owner, lessee) {
			return r.Denied()
		}
	}
	return nil
}

// permitNew applies the rules for patching fields to the fields of a new node. The owner and the parent of a new node
// have rules of their own: claimProject and resolveParent.
func (h *access) permitNew(c *rest.Call, body map[string]any, n *node.Node) error {
	var ops []rest.Operation
	for _, name := range rest.SortedKeys(body) {
		if name != "owner" && name != "parent_node" && body[name] != nil {
			ops = append(ops, rest.Operation{Op: "add", Path: "/" + name, Raw: map[string]any{"value": body[name]}})
		}
	}
	return h.permitFields(c, "/v1/nodes/:node", ops, n.Owner, n.Lessee)
}

func saysNo(value any) bool {
	yes, err := rest.ParseBool("", spelt(value))
	return err == nil && !yes
}

// narrowProject limits a list to the caller's project. asked is the value of ?project=, and must not name another
// project.
func narrowProject(c *rest.Call, asked string) (string, error) {
	own := c.Project()
	if own == "" || asked == own {
		return asked, nil
	}
	if asked != "" {
		return "", (&auth.Rule{Name: "baremetal:node:list_all"}).Denied()
	}
	return own, nil
}

// permitMarker refuses a page after a node that the caller may not see. The items after it would reveal that node's
// place in the order of any field.
func (h *access) permitMarker(c *rest.Call, marker string) error {
	if c.Project() == "" || marker == "" {
		return nil
	}
	_, err := h.nodeOf(c, marker)
	return err
}

// permitPortMarker is permitMarker for a port: it checks the port's node.
func (h *access) permitPortMarker(c *rest.Call, marker string) error {
	if c.Project() == "" || marker == "" {
		return nil
	}
	p, err := h.conductor.Port(c.Request().Context(), marker)
	if err == nil {
		err = h.permitMarker(c, p.NodeUUID)
	}
	if isNotFound(err) {
		return noPort(marker)
	}
	return err
}

// claimProject makes the caller's project the owner of a new record. It refuses another owner.
func claimProject(c *rest.Call, noun string, owner *string) error {
	own := c.Project()
	if own != "" && *owner != "" && *owner != own {
		return rest.BadRequest("Cannot create a %s as a project scoped admin with an owner other than your own project.",
			noun)
	}
	if own != "" {
		*owner = own
	}
	return nil
}

// guarded redacts a field for callers that its rule does not allow. They get a text instead, or an object that holds
// one.
func guarded(rules auth.Rules, f rest.Field[node.Node], object bool) rest.Field[node.Node] {
	rule := rules.Of(http.MethodGet, "/v1/nodes/:node", f.Name)
	text := "** Redacted - requires " + rule.Name + " permission. **"
	show := f.Show
	f.Show = func(dst []byte, v *rest.View[node.Node]) []byte {
		switch {
		case v.Caller == nil || rule.Allows(v.Caller, v.Of.Owner, v.Of.Lessee):
			return show(dst, v)
		case object:
			return append(rest.AppendString(append(dst, `{"content":`...), text), '}')
		}
		return rest.AppendString(dst, text)
	}
	return f
}

// insider reports whether a caller sees all of a node.
func insider(c *rest.Call, n *node.Node) bool {
	return c.Caller == nil || c.Caller.Project == "" || c.Caller.Project == n.Owner
}

// permitMove refuses to move a port, or another part of a node, to some nodes: to a node that the caller may not see,
// and to a node with another owner. Otherwise the owner of a node could lose its parts one by one.
func (h *access) permitMove(c *rest.Call, from, to string) error {
	if from == to {
		return nil
	}
	ctx := c.Request().Context()
	before, err := h.conductor.Node(ctx, from)
	if err != nil {
		return err
	}
	after, err := h.conductor.Node(ctx, to)
	switch {
	case isNotFound(err), err == nil && !h.visible(c, &after):
		return rest.BadRequest("Node %s could not be found.", to)
	case err == nil && before.Owner != after.Owner:
		return rest.BadRequest("A part of node %s cannot move to node %s: the nodes have different owners.", from, to)
	}
	return err
}

// permitPortgroup answers for a portgroup on a node that the caller may not see as for a portgroup that does not exist.
func (h *access) permitPortgroup(c *rest.Call, p *node.Port) error {
	if c.Project() == "" || p.PortgroupUUID == "" {
		return nil
	}
	g, err := h.conductor.Catalogs().Portgroups.Find(c.Request().Context(), p.PortgroupUUID)
	if isNotFound(err) {
		return rest.BadRequest("Portgroup %s could not be found.", p.PortgroupUUID)
	}
	if err != nil {
		return err
	}
	known, err := h.visiblePart(c, g.NodeUUID)
	if err == nil && !known {
		return rest.BadRequest("Portgroup %s could not be found.", p.PortgroupUUID)
	}
	return err
}

// permitOrder refuses to sort nodes by a field that the caller may not read on every node of the list. The order would
// reveal its values.
func (h *access) permitOrder(c *rest.Call, key string) error {
	r := h.Rules[auth.Key(http.MethodGet, "/v1/nodes/:node", key)]
	if key == "" || c.Caller == nil || r == nil || r.Allows(c.Caller, "", c.Project()) {
		return nil
	}
	return r.Denied()
}

// visiblePart reports whether a caller may know of a part of a node.
func (h *access) visiblePart(c *rest.Call, nodeUUID string) (bool, error) {
	if c.Project() == "" {
		return true, nil
	}
	n, err := h.conductor.Node(c.Request().Context(), nodeUUID)
	if isNotFound(err) {
		return false, nil
	}
	return err == nil && h.visible(c, &n), err
}

// bodyNode reads the node that a body names. A missing node is a bad request. A caller limited to its own nodes gets
// the same denial for every other node, so that it learns of none.
func (h *access) bodyNode(c *rest.Call, ref string) (node.Node, error) {
	if rest.ValidUUID(ref) {
		ref = strings.ToLower(ref)
	}
	n, err := h.conductor.Node(c.Request().Context(), ref)
	missing := isNotFound(err)
	switch {
	case err != nil && !missing:
		return n, err
	case c.Caller != nil && !c.Rule.Allows(c.Caller, n.Owner, n.Lessee):
		return n, c.Rule.Denied()
	case missing, !h.visible(c, &n):
		return n, nodeapi.NewFault(http.StatusBadRequest, "Node %s could not be found.", ref)
	}
	return n, nil
}
