package api

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The microversions that introduced allocations, and later additions to them.
const (
	allocationsSince   = 52
	allocationPatch    = 57
	allocationBackfill = 58
	allocationOwner    = 60
)

// allocations is the collection of allocations: requests for a node with certain properties.
type allocations struct{ collection[node.Allocation] }

// allocationResource makes the routes of allocations.
type allocationResource struct{ access }

func (h *allocationResource) routes() []rest.Route {
	r := &allocations{collection[node.Allocation]{
		access: &h.access, path: "allocations", since: allocationsSince, noun: "Allocation", ident: "allocation_ident",
		fields: allocationTable(), whole: true,
		id:      func(v *node.Allocation) string { return v.UUID },
		owner:   func(v *node.Allocation) *string { return &v.Owner },
		filters: h.allocationFilters, created: h.newAllocation,
		kept: h.conductor.Catalogs().Allocations,
	}}
	rows := r.routes()
	for i := range rows {
		if rows[i].Method == http.MethodPatch {
			rows[i].Since, rows[i].TooOld = allocationPatch,
				nodeapi.Routing(http.StatusMethodNotAllowed, "The API version does not allow updating allocations")
		}
	}
	const ofNode = "/v1/nodes/:node/allocation"
	older := nodeapi.Routing(http.StatusNotFound, "The API version does not allow allocations")
	return append(rows,
		rest.Route{Method: http.MethodGet, Path: ofNode, Since: allocationsSince, TooOld: older,
			Doc: "the allocation a node is given to", Handle: r.showOfNode, Wire: rest.Shows(r.fields)},
		rest.Route{Method: http.MethodDelete, Path: ofNode, Since: allocationsSince, TooOld: older,
			Doc: "take a node from its allocation, and forget that", Handle: r.dropOfNode},
	)
}

// allocationTable is every field of an allocation with the microversion it
// appears in.
func allocationTable() *rest.Table[node.Allocation] {
	type v = node.Allocation
	return rest.NewTable("allocation", []rest.Field[v]{
		rest.UUID("uuid", 1, rest.Creatable, func(v *v) *string { return &v.UUID }),
		rest.Time("created_at", 1, func(v *v) *time.Time { return &v.CreatedAt }),
		rest.Time("updated_at", 1, func(v *v) *time.Time { return v.UpdatedAt }),
		rest.Texts("candidate_nodes", rest.Creatable, func(v *v) *[]string { return &v.CandidateNodes }, someText),
		rest.Object("extra", 1, both, nil, func(v *v) *map[string]any { return &v.Extra }),
		rest.Sized("last_error", 1, 0, 0, func(v *v) *string { return &v.LastError }),
		rest.Name("allocation", 1, both, node.ValidName, func(v *v) *string { return &v.Name }),
		rest.Text("owner", allocationOwner, rest.Creatable, func(v *v) *string { return &v.Owner }),
		rest.Sized("resource_class", 1, rest.Creatable, node.FieldNamed("resource_class").MaxLength(),
			func(v *v) *string { return &v.ResourceClass }),
		rest.Text("state", 1, 0, func(v *v) *node.AllocationState { return &v.State }),
		rest.Texts("traits", rest.Creatable, func(v *v) *[]string { return &v.Traits }, asTrait),
		rest.Computed("links", 1, 0, func(dst []byte, v *rest.View[v]) []byte {
			return rest.AppendLinks(dst, v.Base, "allocations/"+v.Of.UUID)
		}),
		rest.Computed("node_uuid", 1, 0, func(dst []byte, v *rest.View[v]) []byte {
			return rest.AppendText(dst, v.Of.NodeUUID)
		}),
		// the name or UUID from the request, until newAllocation resolves it
		rest.Text("node", 1, rest.Creatable|rest.Unseen, func(v *v) *string { return &v.NodeUUID }),
	})
}

// maxCandidates bounds the nodes that one allocation names: each is read whole.
const maxCandidates = 1000

// newAllocation resolves the nodes that a new allocation names. A caller with a project gets an allocation of that
// project, and may name only nodes that it may see.
func (h *allocationResource) newAllocation(c *rest.Call, v *node.Allocation) error {
	restricted := h.Rules.Of(http.MethodPost, "/v1/allocations", "owner")
	switch {
	case c.Caller != nil && v.Owner != "" && v.Owner != c.Project() && !restricted.Allows(c.Caller, "", ""):
		return restricted.Denied()
	case v.NodeUUID != "" && c.Minor < allocationBackfill:
		return rest.BadRequest("Cannot set node when creating an allocation in this API version")
	case v.NodeUUID != "":
		n, err := h.bodyNode(c, v.NodeUUID)
		if err != nil {
			return err
		}
		v.NodeUUID = n.UUID
	case v.ResourceClass == "":
		return rest.BadRequest("The resource_class field is mandatory when not backfilling")
	}
	if n := len(v.CandidateNodes); n > maxCandidates {
		return rest.BadRequest("candidate_nodes has %d nodes, at most %d are taken", n, maxCandidates)
	}
	var missing, found []string
	for i, ref := range v.CandidateNodes {
		if slices.Contains(v.CandidateNodes[:i], ref) {
			continue
		}
		if n, err := h.bodyNode(c, ref); err == nil {
			found = append(found, n.UUID)
		} else if faultOf(err) != nil {
			missing = append(missing, ref)
		} else {
			return err
		}
	}
	if missing != nil {
		return rest.BadRequest("Nodes cannot be found: %s", strings.Join(missing, ", "))
	}
	v.CandidateNodes = found
	return nil
}

// allocationFilters is every filter of the list of allocations.
func (h *allocationResource) allocationFilters(c *rest.Call) []rest.Filter[narrowing[node.Allocation]] {
	type q = narrowing[node.Allocation]
	return []rest.Filter[q]{
		{Name: "node", Since: allocationsSince, Apply: func(q *q, ref string) error {
			n, err := h.bodyNode(c, ref)
			q.column, q.values = "node_uuid", []string{n.UUID}
			return err
		}},
		{Name: "owner", Since: allocationOwner, Apply: func(q *q, owner string) error {
			if own := c.Project(); own != "" && owner != own {
				return (&auth.Rule{Name: "baremetal:allocation:list_all"}).Denied()
			}
			return keep(func(v *node.Allocation) string { return v.Owner })(q, owner)
		}},
		{Name: "resource_class", Since: allocationsSince,
			Apply: keep(func(v *node.Allocation) string { return v.ResourceClass })},
		{Name: "state", Since: allocationsSince, Apply: keep(func(v *node.Allocation) string { return string(v.State) })},
	}
}

// keep narrows a list to records with exactly this value. "" matches none.
func keep[T any](of func(*T) string) func(*narrowing[T], string) error {
	return func(q *narrowing[T], value string) error {
		q.keep = append(q.keep, func(v *T) bool { return value != "" && of(v) == value })
		return nil
	}
}

// ofNode finds the allocation of the node that a path names. Callers that see the node may learn that it has one. The
// owner of the allocation decides whether they may read it.
func (r *allocations) ofNode(c *rest.Call) (node.Allocation, error) {
	n, err := r.access.node(c)
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
	if c.Caller != nil && !c.Rule.Allows(c.Caller, found[0].Owner, "") {
		return node.Allocation{}, c.Rule.Denied()
	}
	return found[0], nil
}

func (r *allocations) showOfNode(c *rest.Call) error {
	if err := rest.Unexpected(rest.SortedKeys(c.QueryParams()), []string{"fields"}); err != nil {
		return err
	}
	chosen, err := r.chosen(c, c.QueryParam("fields"), r.fields.Full(c.Minor))
	if err != nil {
		return err
	}
	v, err := r.ofNode(c)
	if err != nil {
		return err
	}
	return r.answer(c, http.StatusOK, &v, chosen)
}

func (r *allocations) dropOfNode(c *rest.Call) error {
	v, err := r.ofNode(c)
	if err != nil {
		return err
	}
	return c.Done(r.kept.Delete(c.Request().Context(), v.UUID))
}
