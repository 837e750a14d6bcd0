package api

import (
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

func (h *nodeResource) listNodes(c *rest.Call) error { return h.answerNodes(c, false) }

func (h *nodeResource) listNodesDetail(c *rest.Call) error {
	if c.QueryParams().Has("fields") {
		return rest.BadRequest("Unexpected arguments: fields")
	}
	return h.answerNodes(c, true)
}

func (h *nodeResource) answerNodes(c *rest.Call, detail bool) error {
	return h.answerNodesIn(c, "", detail)
}

// answerNodesIn answers a page of the nodes in a chassis; in any when it is "".
func (h *nodeResource) answerNodesIn(c *rest.Call, chassis string, detail bool) error {
	p, err := c.Page(h.fields.SortKey, rest.FieldsSince, rest.DetailSince)
	if err != nil {
		return err
	}
	if err := h.permitOrder(c, p.SortKey); err != nil {
		return err
	}
	q := nodeQuery{Query: node.Query{Equal: map[string]string{}, Is: map[string]bool{}, Marker: p.Marker,
		Limit: p.Limit + 1, SortKey: p.SortKey, Desc: p.Desc}}
	if err := rest.Narrow(c, &q, h.nodeFilters(c), rest.PageArgs()...); err != nil {
		return err
	}
	if q.Project, err = narrowProject(c, q.Project); err != nil {
		return err
	}
	if chassis != "" {
		q.Equal["chassis_uuid"] = chassis
	}
	if err := h.permitMarker(c, p.Marker); err != nil {
		return err
	}
	chosen, full := h.fields.Pick(c.Minor, defaultNodeFields()...), false
	if p.Fields != "" {
		if chosen, err = h.fields.Selected(c.Minor, p.Fields); err != nil {
			return err
		}
	} else if detail || p.Detail {
		chosen, full = h.full[c.Minor], true
	}
	v := rest.View[node.Node]{Minor: c.Minor, Base: c.BaseURL(), Caller: c.Caller}
	return rest.AnswerList(h.Server, c, p, "nodes", h.items(c, q, chosen, &v.Reserved),
		func(n *node.Node) string { return n.UUID },
		func(dst []byte, n *node.Node) []byte {
			v.Of, v.Host = n, h.hostOf(n)
			if full && atRest(n) && insider(c, n) { // some fields are rendered faster than found
				return append(dst, h.rendered(chosen, "", &v)...)
			}
			return h.fields.Render(dst, chosen, &v)
		})
}

// items reads the nodes of a page. If reservation is among the fields, it sets holder to the host that holds each.
func (h *nodeResource) items(c *rest.Call, q nodeQuery, chosen rest.Selection, holder *string) rest.Items[node.Node] {
	return func(yield func(*node.Node, error) bool) {
		if q.none {
			return
		}
		reserved, more := slices.Contains(chosen, h.fields.ByName["reservation"]), true
		err := h.conductor.WalkNodes(c.Request().Context(), q.Query, func(n *node.Node) bool {
			var err error
			if reserved {
				*holder, err = h.holder(c, n)
			}
			more = yield(n, err)
			return more
		})
		if err != nil && more {
			yield(nil, err)
		}
	}
}

// nodeQuery is a query with a condition that the store does not know.
type nodeQuery struct {
	node.Query
	none bool // nothing can match
}

// nodeFilters is every filter of the list of nodes.
func (h *nodeResource) nodeFilters(c *rest.Call) []rest.Filter[nodeQuery] {
	type q = nodeQuery
	all := []rest.Filter[q]{
		{Name: "associated", Since: 1, Apply: boolFilter("associated", func(q *q) **bool { return &q.Associated })},
		{Name: "conductor", Since: 49, Apply: func(q *q, v string) error {
			group, leads := h.leaders.Led(v)
			if q.none = q.none || !leads; group != nil {
				q.ConductorGroup = group
			}
			return nil
		}},
		{Name: "conductor_group", Since: 46, Apply: func(q *q, v string) error {
			v = strings.ToLower(v)
			q.ConductorGroup = &v
			return nil
		}},
		{Name: "description_contains", Since: 51, Apply: textFilter(func(q *q) *string { return &q.Contains })},
		{Name: "include_children", Since: 83, Apply: func(q *q, v string) (err error) {
			q.WithChildren, err = rest.ParseBool("include_children", v)
			return err
		}},
		{Name: "project", Since: 1, Apply: textFilter(func(q *q) *string { return &q.Project })},
		{Name: "provision_state", Since: 9, Apply: stateFilter},
		{Name: "shard", Since: 82, Apply: func(q *q, v string) error { q.Shards = strings.Split(v, ","); return nil }},
		{Name: "sharded", Since: 82, Apply: boolFilter("sharded", func(q *q) **bool { return &q.Sharded })},
	}
	for i := range node.Fields {
		if f := &node.Fields[i]; f.Is(node.FilterText | node.FilterFlag) {
			all = append(all, rest.Filter[q]{Name: f.Name, Since: max(f.Since, f.FilterSince), Apply: h.fieldFilter(c, f)})
		}
	}
	slices.SortFunc(all, func(a, b rest.Filter[q]) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// fieldFilter compares a field with the value in the query.
func (h *nodeResource) fieldFilter(c *rest.Call, f *node.Field) func(*nodeQuery, string) error {
	return func(q *nodeQuery, value string) (err error) {
		if f.Is(node.FilterFlag) {
			q.Is[f.Name], err = rest.ParseBool(f.Name, value)
			return err
		}
		switch {
		case f.Kind == node.UUIDField:
			value, err = rest.ReadUUID(f.Name, value)
		case f.Name == "fault":
			err = checkFault(value)
		default:
			q.none = q.none || value == "" // an empty text matches no node
		}
		if err == nil && f.Name == "chassis_uuid" {
			_, err = h.conductor.Catalogs().Chassis.Find(c.Request().Context(), value)
		}
		q.Equal[f.Name] = value
		return err
	}
}

// textFilter matches a text exactly; an empty one matches no node.
func textFilter(at func(*nodeQuery) *string) func(*nodeQuery, string) error {
	return func(q *nodeQuery, value string) error {
		*at(q), q.none = value, q.none || value == ""
		return nil
	}
}

func boolFilter(name string, at func(*nodeQuery) **bool) func(*nodeQuery, string) error {
	return func(q *nodeQuery, value string) error {
		b, err := rest.ParseBool(name, value)
		*at(q) = &b
		return err
	}
}

func stateFilter(q *nodeQuery, value string) error {
	s := node.State(value)
	if _, ok := node.States[s]; !ok {
		return rest.BadRequest(`Provision state "%s" is not valid`, value)
	}
	q.ProvisionState = &s
	return nil
}

func checkFault(value string) error {
	switch value {
	case "power failure", "clean failure", "rescue abort failure":
		return nil
	}
	return rest.BadRequest(
		`Unrecognized fault "%s" is specified, allowed faults are ('power failure', 'clean failure', 'rescue abort failure')`,
		value)
}
