package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

func (a *API) listNodes(c *call) error { return a.answerNodes(c, false) }

func (a *API) listNodesDetail(c *call) error {
	if c.QueryParams().Has("fields") {
		return badRequest("Unexpected arguments: fields")
	}
	return a.answerNodes(c, true)
}

func (a *API) answerNodes(c *call, detail bool) error { return a.answerNodesIn(c, "", detail) }

// answerNodesIn answers a page of the nodes in a chassis; in any when it is "".
func (a *API) answerNodesIn(c *call, chassis string, detail bool) error {
	p, err := c.page(a.nodes.sortKey, fieldsSince, detailSince)
	if err != nil {
		return err
	}
	if err := a.permitOrder(c, p.sortKey); err != nil {
		return err
	}
	q := nodeQuery{Query: node.Query{Marker: p.marker, Limit: p.limit + 1, SortKey: p.sortKey, Desc: p.desc}, host: a.conductor.ConductorName()}
	if err := narrow(c, &q, a.nodeFilters(c), pageArgs()...); err != nil {
		return err
	}
	if q.Project, err = narrowProject(c, q.Project); err != nil {
		return err
	}
	if chassis != "" {
		q.ChassisUUID = chassis
	}
	if err := a.permitMarker(c, p.marker); err != nil {
		return err
	}
	chosen, full := a.nodes.pick(c.minor, defaultNodeFields()...), false
	if p.fields != "" {
		if chosen, err = a.nodes.asked(c.minor, p.fields); err != nil {
			return err
		}
	} else if detail || p.detail {
		chosen, full = a.full[c.minor], true
	}
	var nodes []node.Node
	if !q.none {
		if nodes, err = a.conductor.Nodes(c.Request().Context(), q.Query); err != nil {
			return err
		}
	}
	v := view[node.Node]{minor: c.minor, base: c.base(), host: q.host, caller: c.caller}
	holders, err := a.holders(c, chosen, nodes)
	if err != nil {
		return err
	}
	return a.buffer(c, http.StatusOK, func(dst []byte) []byte {
		return appendList(dst, c, p, "nodes", nodes, func(n *node.Node) string { return n.UUID }, func(dst []byte, n *node.Node) []byte {
			v.of, v.reserved = n, holders[n.UUID]
			if full && atRest(n) && insider(c, n) { // some fields are rendered faster than found
				return append(dst, a.rendered(chosen, "", &v)...)
			}
			return a.nodes.render(dst, chosen, &v)
		})
	})
}

// holders says who works on each node, when reservation is among the fields.
func (a *API) holders(c *call, chosen selection, nodes []node.Node) (map[string]string, error) {
	if !slices.Contains(chosen, a.nodes.byName["reservation"]) {
		return nil, nil
	}
	held := map[string]string{}
	for i := range nodes {
		holder, err := a.holder(c, &nodes[i])
		if err != nil {
			return nil, err
		}
		if holder != "" {
			held[nodes[i].UUID] = holder
		}
	}
	return held, nil
}

// nodeQuery is a query with what the store does not know of.
type nodeQuery struct {
	node.Query
	host string // this conductor
	none bool   // nothing can match
}

// nodeFilters is every filter of the list of nodes.
func (a *API) nodeFilters(c *call) []filter[nodeQuery] {
	type q = nodeQuery
	return []filter[q]{
		{"associated", 1, boolFilter("associated", func(q *q) **bool { return &q.Associated })},
		{"chassis_uuid", 1, func(q *q, v string) error {
			id, err := asUUID("chassis_uuid", v)
			if err != nil {
				return err
			}
			of, err := a.conductor.Catalogs().Chassis.Find(c.Request().Context(), id)
			q.ChassisUUID = of.UUID
			return err
		}},
		{"conductor", 49, func(q *q, v string) error { q.none = q.none || !strings.EqualFold(v, q.host); return nil }},
		{"conductor_group", 46, func(q *q, v string) error { v = strings.ToLower(v); q.ConductorGroup = &v; return nil }},
		{"description_contains", 51, textFilter(func(q *q) *string { return &q.Contains })},
		{"driver", 16, textFilter(func(q *q) *string { return &q.Driver })},
		{"fault", 42, faultFilter},
		{"include_children", 83, func(q *q, v string) (err error) { q.WithChildren, err = parseBool("include_children", v); return err }},
		{"instance_uuid", 1, uuidFilter("instance_uuid", func(q *q) *string { return &q.InstanceUUID })},
		{"instance_name", 104, textFilter(func(q *q) *string { return &q.InstanceName })},
		{"lessee", 65, textFilter(func(q *q) *string { return &q.Lessee })},
		{"maintenance", 1, boolFilter("maintenance", func(q *q) **bool { return &q.Maintenance })},
		{"owner", 50, textFilter(func(q *q) *string { return &q.Owner })},
		{"parent_node", 83, uuidFilter("parent_node", func(q *q) *string { return &q.ParentNode })},
		{"project", 1, textFilter(func(q *q) *string { return &q.Project })},
		{"provision_state", 9, stateFilter},
		{"resource_class", 21, textFilter(func(q *q) *string { return &q.ResourceClass })},
		{"retired", 61, boolFilter("retired", func(q *q) **bool { return &q.Retired })},
		{"shard", 82, func(q *q, v string) error { q.Shards = strings.Split(v, ","); return nil }},
		{"sharded", 82, boolFilter("sharded", func(q *q) **bool { return &q.Sharded })},
	}
}

// textFilter matches a text exactly; an empty one matches no node.
func textFilter(at func(*nodeQuery) *string) func(*nodeQuery, string) error {
	return func(q *nodeQuery, value string) error {
		*at(q), q.none = value, q.none || value == ""
		return nil
	}
}

func uuidFilter(name string, at func(*nodeQuery) *string) func(*nodeQuery, string) error {
	return func(q *nodeQuery, value string) error {
		id, err := asUUID(name, value)
		*at(q) = id
		return err
	}
}

func boolFilter(name string, at func(*nodeQuery) **bool) func(*nodeQuery, string) error {
	return func(q *nodeQuery, value string) error {
		b, err := parseBool(name, value)
		*at(q) = &b
		return err
	}
}

func stateFilter(q *nodeQuery, value string) error {
	s := node.State(value)
	if _, ok := node.States[s]; !ok {
		return badRequest(`Provision state "%s" is not valid`, value)
	}
	q.ProvisionState = &s
	return nil
}

func faultFilter(q *nodeQuery, value string) error {
	switch value {
	case "power failure", "clean failure", "rescue abort failure":
		q.Fault = value
		return nil
	}
	return badRequest(`Unrecognized fault "%s" is specified, allowed faults are ('power failure', 'clean failure', 'rescue abort failure')`, value)
}
