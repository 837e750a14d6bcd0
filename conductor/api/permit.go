package api

import (
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/auth"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// permit refuses a caller whom a node does not concern, with missing, and one who
// may not do with it what a rule is about.
func (a *API) permit(c *call, r *auth.Rule, n *node.Node, missing error) error {
	switch {
	case c.caller == nil:
		return nil
	case !a.visible(c, n):
		return missing
	case !r.Allows(c.caller, n.Owner, n.Lessee):
		return r.Denied()
	}
	return nil
}

// visible reports whether a node exists for a caller.
func (a *API) visible(c *call, n *node.Node) bool {
	return c.caller == nil || a.rules.Of(http.MethodGet, "/v1/nodes/:node", "").Allows(c.caller, n.Owner, n.Lessee)
}

// permitFields refuses a patch of fields that are under a rule the caller does not
// meet, of a resource that is owned by and lent to these projects.
func (a *API) permitFields(c *call, path string, ops []operation, owner, lessee string) error {
	if c.caller == nil {
		return nil
	}
	for _, o := range ops {
		field := o.field()
		switch {
		case strings.HasSuffix(field, "_interface"):
			field = "{}_interface"
		case field == "automated_clean" && saysNo(o.raw["value"]):
			field += " off"
		}
		if r := a.rules[auth.Key(http.MethodPatch, path, field)]; r != nil && !r.Allows(c.caller, owner, lessee) {
			return r.Denied()
		}
	}
	return nil
}

// permitNew holds the fields of a new node to the rules of a patch. The owner and the
// parent of a new node have rules of their own: own and permitParent.
func (a *API) permitNew(c *call, body map[string]any, n *node.Node) error {
	var ops []operation
	for _, name := range sortedKeys(body) {
		if name != "owner" && name != "parent_node" && body[name] != nil {
			ops = append(ops, operation{op: "add", path: "/" + name, raw: map[string]any{"value": body[name]}})
		}
	}
	return a.permitFields(c, "/v1/nodes/:node", ops, n.Owner, n.Lessee)
}

func saysNo(value any) bool {
	yes, err := parseBool("", spelt(value))
	return err == nil && !yes
}

// narrowProject leaves of a list what concerns the caller's project; asked is what
// ?project= says, which can be no other.
func narrowProject(c *call, asked string) (string, error) {
	own := c.project()
	if own == "" || asked == own {
		return asked, nil
	}
	if asked != "" {
		return "", (&auth.Rule{Name: "baremetal:node:list_all"}).Denied()
	}
	return own, nil
}

// permitMarker refuses a page after a node that the caller may not know of: what
// comes after it would tell where that node stands in the order of any field.
func (a *API) permitMarker(c *call, marker string) error {
	if c.project() == "" || marker == "" {
		return nil
	}
	_, err := a.nodeOf(c, marker)
	return err
}

// permitPortMarker is permitMarker for a port, which is its node's.
func (a *API) permitPortMarker(c *call, marker string) error {
	if c.project() == "" || marker == "" {
		return nil
	}
	p, err := a.conductor.Port(c.Request().Context(), marker)
	if err == nil {
		err = a.permitMarker(c, p.NodeUUID)
	}
	if isNotFound(err) {
		return noPort(marker)
	}
	return err
}

// claimProject makes what a caller with a project creates that project's.
func claimProject(c *call, noun string, owner *string) error {
	own := c.project()
	if own != "" && *owner != "" && *owner != own {
		return badRequest("Cannot create a %s as a project scoped admin with an owner other than your own project.", noun)
	}
	if own != "" {
		*owner = own
	}
	return nil
}

// guarded is a field that not everybody sees to whom the node is shown: those whom
// its rule does not allow see a text instead, or an object with one.
func guarded(rules auth.Rules, f field[node.Node], object bool) field[node.Node] {
	rule := rules.Of(http.MethodGet, "/v1/nodes/:node", f.name)
	text := "** Redacted - requires " + rule.Name + " permission. **"
	show := f.show
	f.show = func(dst []byte, v *view[node.Node]) []byte {
		switch {
		case v.caller == nil || rule.Allows(v.caller, v.of.Owner, v.of.Lessee):
			return show(dst, v)
		case object:
			return append(appendString(append(dst, `{"content":`...), text), '}')
		}
		return appendString(dst, text)
	}
	return f
}

// insider reports whether a caller sees all of a node.
func insider(c *call, n *node.Node) bool {
	return c.caller == nil || c.caller.Project == "" || c.caller.Project == n.Owner
}

// permitMove refuses to make what is a part of one node that of another, unless
// that is known to the caller and has the same owner: who gives a machine away
// does not give its parts to others one by one.
func (a *API) permitMove(c *call, from, to string) error {
	if from == to {
		return nil
	}
	ctx := c.Request().Context()
	before, err := a.conductor.Node(ctx, from)
	if err != nil {
		return err
	}
	after, err := a.conductor.Node(ctx, to)
	switch {
	case isNotFound(err), err == nil && !a.visible(c, &after):
		return badRequest("Node %s could not be found.", to)
	case err == nil && before.Owner != after.Owner:
		return badRequest("What is a part of node %s cannot become one of node %s: they have not the same owner.", from, to)
	}
	return err
}

// permitPortgroup answers for a port's portgroup on a node that the caller does not
// know of as for one that does not exist.
func (a *API) permitPortgroup(c *call, p *node.Port) error {
	if c.project() == "" || p.PortgroupUUID == "" {
		return nil
	}
	g, err := a.conductor.Catalogs().Portgroups.Find(c.Request().Context(), p.PortgroupUUID)
	if isNotFound(err) {
		return badRequest("Portgroup %s could not be found.", p.PortgroupUUID)
	}
	if err != nil {
		return err
	}
	known, err := a.visiblePart(c, g.NodeUUID)
	if err == nil && !known {
		return badRequest("Portgroup %s could not be found.", p.PortgroupUUID)
	}
	return err
}

// permitOrder refuses to sort nodes by a field that the caller does not see of all
// nodes in his list: their order tells of its values.
func (a *API) permitOrder(c *call, key string) error {
	r := a.rules[auth.Key(http.MethodGet, "/v1/nodes/:node", key)]
	if key == "" || c.caller == nil || r == nil || r.Allows(c.caller, "", c.project()) {
		return nil
	}
	return r.Denied()
}

// visiblePart reports whether what is a part of a node exists for a caller.
func (a *API) visiblePart(c *call, nodeUUID string) (bool, error) {
	if c.project() == "" {
		return true, nil
	}
	n, err := a.conductor.Node(c.Request().Context(), nodeUUID)
	if isNotFound(err) {
		return false, nil
	}
	return err == nil && a.visible(c, &n), err
}

// bodyNode is the node a body names, which is a bad request when it is not there.
// Who may do what he asks for only with nodes of his own learns of no others.
func (a *API) bodyNode(c *call, ref string) (node.Node, error) {
	if validUUID(ref) {
		ref = strings.ToLower(ref)
	}
	n, err := a.conductor.Node(c.Request().Context(), ref)
	missing := isNotFound(err)
	switch {
	case err != nil && !missing:
		return n, err
	case c.caller != nil && !c.rule.Allows(c.caller, n.Owner, n.Lessee):
		return n, c.rule.Denied()
	case missing, !a.visible(c, &n):
		return n, nodeapi.NewFault(http.StatusBadRequest, "Node %s could not be found.", ref)
	}
	return n, nil
}
