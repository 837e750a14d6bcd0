package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/auth"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The microversions in which allocations came, and what was added to them.
const (
	allocationsSince   = 52
	allocationPatch    = 57
	allocationBackfill = 58
	allocationOwner    = 60
)

// allocations is the collection of allocations: wishes for nodes of a kind.
type allocations struct{ collection[node.Allocation] }

func (a *API) allocationRoutes() []route {
	r := &allocations{collection[node.Allocation]{
		api: a, path: "allocations", since: allocationsSince, noun: "Allocation", ident: "allocation_ident",
		fields: allocationTable(), whole: true,
		id:      func(v *node.Allocation) string { return v.UUID },
		owner:   func(v *node.Allocation) *string { return &v.Owner },
		filters: a.allocationFilters, created: a.newAllocation,
		kept: a.conductor.Catalogs().Allocations,
	}}
	rows := r.routes()
	for i := range rows {
		if rows[i].method == http.MethodPatch {
			rows[i].since, rows[i].tooOld = allocationPatch, nodeapi.Routing(http.StatusMethodNotAllowed, "The API version does not allow updating allocations")
		}
	}
	const ofNode = "/v1/nodes/:node/allocation"
	older := nodeapi.Routing(http.StatusNotFound, "The API version does not allow allocations")
	return append(rows,
		route{method: http.MethodGet, path: ofNode, since: allocationsSince, tooOld: older, doc: "the allocation a node is given to", handle: r.showOfNode, wire: shows(r.fields)},
		route{method: http.MethodDelete, path: ofNode, since: allocationsSince, tooOld: older, doc: "take a node from its allocation, and forget that", handle: r.dropOfNode},
	)
}

// allocationTable is every field of an allocation with the microversion it
// appears in.
func allocationTable() *table[node.Allocation] {
	type v = node.Allocation
	return newTable("allocation", []field[v]{
		identifier("uuid", 1, creatable, func(v *v) *string { return &v.UUID }),
		instant("created_at", 1, func(v *v) *time.Time { return &v.CreatedAt }),
		instant("updated_at", 1, func(v *v) *time.Time { return v.UpdatedAt }),
		texts("candidate_nodes", creatable, func(v *v) *[]string { return &v.CandidateNodes }, someText),
		object("extra", 1, both, nil, func(v *v) *map[string]any { return &v.Extra }),
		sized("last_error", 1, 0, 0, func(v *v) *string { return &v.LastError }),
		logicalName("allocation", 1, both, func(v *v) *string { return &v.Name }),
		text("owner", allocationOwner, creatable, func(v *v) *string { return &v.Owner }),
		sized("resource_class", 1, creatable, 80, func(v *v) *string { return &v.ResourceClass }),
		text("state", 1, 0, func(v *v) *node.AllocationState { return &v.State }),
		texts("traits", creatable, func(v *v) *[]string { return &v.Traits }, asTrait),
		shown("links", 1, 0, func(dst []byte, v *view[v]) []byte { return appendLinks(dst, v.base, "allocations/"+v.of.UUID) }),
		shown("node_uuid", 1, 0, func(dst []byte, v *view[v]) []byte { return appendText(dst, v.of.NodeUUID) }),
		text("node", 1, creatable|unseen, func(v *v) *string { return &v.NodeUUID }), // its name or UUID, until newAllocation has found it
	})
}

// newAllocation finds the nodes that a new allocation names. A project's user
// gets one for his own project, out of the nodes that concern it.
func (a *API) newAllocation(c *call, v *node.Allocation) error {
	restricted := a.rules.Of(http.MethodPost, "/v1/allocations", "owner")
	switch {
	case c.caller != nil && v.Owner != "" && v.Owner != c.project() && !restricted.Allows(c.caller, "", ""):
		return restricted.Denied()
	case v.NodeUUID != "" && c.minor < allocationBackfill:
		return badRequest("Cannot set node when creating an allocation in this API version")
	case v.NodeUUID != "":
		n, err := a.bodyNode(c, v.NodeUUID)
		if err != nil {
			return err
		}
		v.NodeUUID = n.UUID
	case v.ResourceClass == "":
		return badRequest("The resource_class field is mandatory when not backfilling")
	}
	var missing []string
	for i, ref := range v.CandidateNodes {
		if n, err := a.bodyNode(c, ref); err == nil {
			v.CandidateNodes[i] = n.UUID
		} else if faultOf(err) != nil {
			missing = append(missing, ref)
		} else {
			return err
		}
	}
	if missing != nil {
		return badRequest("Nodes cannot be found: %s", strings.Join(missing, ", "))
	}
	return nil
}

// allocationFilters is every filter of the list of allocations.
func (a *API) allocationFilters(c *call) []filter[narrowing[node.Allocation]] {
	type q = narrowing[node.Allocation]
	return []filter[q]{
		{"node", allocationsSince, func(q *q, ref string) error {
			n, err := a.bodyNode(c, ref)
			q.column, q.values = "node_uuid", []string{n.UUID}
			return err
		}},
		{"owner", allocationOwner, func(q *q, owner string) error {
			if own := c.project(); own != "" && owner != own {
				return (&auth.Rule{Name: "baremetal:allocation:list_all"}).Denied()
			}
			return keep(func(v *node.Allocation) string { return v.Owner })(q, owner)
		}},
		{"resource_class", allocationsSince, keep(func(v *node.Allocation) string { return v.ResourceClass })},
		{"state", allocationsSince, keep(func(v *node.Allocation) string { return string(v.State) })},
	}
}

// keep narrows a list to what has a value exactly; "" is no value.
func keep[T any](of func(*T) string) func(*narrowing[T], string) error {
	return func(q *narrowing[T], value string) error {
		q.keep = append(q.keep, func(v *T) bool { return value != "" && of(v) == value })
		return nil
	}
}

// ofNode finds the allocation of the node that a path names. That the node has one
// is no secret to whom the node concerns; whose it is decides who may see it.
func (r *allocations) ofNode(c *call) (node.Allocation, error) {
	n, err := r.api.node(c)
	if err != nil {
		return node.Allocation{}, err
	}
	found, err := r.kept.List(c.Request().Context(), "node_uuid", n.UUID)
	if err != nil {
		return node.Allocation{}, err
	}
	if len(found) == 0 {
		return node.Allocation{}, node.Refuse(node.NotFound, "Allocation for node %s was not found", c.Param("node"))
	}
	if c.caller != nil && !c.rule.Allows(c.caller, found[0].Owner, "") {
		return node.Allocation{}, c.rule.Denied()
	}
	return found[0], nil
}

func (r *allocations) showOfNode(c *call) error {
	if err := unexpected(sortedKeys(c.QueryParams()), []string{"fields"}); err != nil {
		return err
	}
	chosen, err := r.chosen(c, c.QueryParam("fields"), r.fields.full(c.minor))
	if err != nil {
		return err
	}
	v, err := r.ofNode(c)
	if err != nil {
		return err
	}
	return r.answer(c, http.StatusOK, &v, chosen)
}

func (r *allocations) dropOfNode(c *call) error {
	v, err := r.ofNode(c)
	if err != nil {
		return err
	}
	return c.done(r.kept.Delete(c.Request().Context(), v.UUID))
}
