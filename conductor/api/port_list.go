package api

import (
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The lists of ports: all, by node, by portgroup.

func (h *portResource) listPorts(c *rest.Call) error {
	return h.answerPorts(c, node.PortQuery{}, h.portFilters(c), false)
}

func (h *portResource) listPortsDetail(c *rest.Call) error {
	return h.answerPorts(c, node.PortQuery{}, h.portFilters(c), true)
}

func (h *portResource) listNodePorts(c *rest.Call, detail bool) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	return h.answerPorts(c, node.PortQuery{NodeUUID: n.UUID}, nil, detail)
}

// conductorGroupsSince is the microversion of lists of ports and portgroups by
// their nodes' conductor groups.
const conductorGroupsSince = 99

// portFilters is every filter of the list of ports. It looks up the named records first.
func (h *portResource) portFilters(c *rest.Call) []rest.Filter[node.PortQuery] {
	type q = node.PortQuery
	byNode := func(q *q, ref string) (err error) { q.NodeUUID, err = h.nodeOf(c, ref); return err }
	return []rest.Filter[q]{
		{Name: "address", Since: 1, Apply: func(q *q, v string) (err error) {
			q.Address, err = asMAC("address", v)
			return err
		}},
		{Name: "node", Since: 6, Apply: byNode},
		{Name: "node_uuid", Since: 1, Apply: func(q *q, v string) error {
			if _, err := rest.ReadUUID("node_uuid", v); err != nil {
				return err
			}
			return byNode(q, v)
		}},
		{Name: "portgroup", Since: portgroupOfSince, Apply: func(q *q, ref string) error {
			if err := checkIdent("portgroup", ref); err != nil {
				return err
			}
			g, err := h.conductor.Catalogs().Portgroups.Find(c.Request().Context(), ref)
			if err != nil {
				return err
			}
			q.PortgroupUUID = g.UUID
			visible, err := h.visiblePart(c, g.NodeUUID)
			if err == nil && !visible {
				return node.Refuse(node.NotFound, "Portgroup %s could not be found.", ref)
			}
			return err
		}},
		{Name: "shard", Since: 82, Apply: func(q *q, v string) error { q.Shards = strings.Split(v, ","); return nil }},
		{Name: "description_contains", Since: 97, Apply: func(q *q, v string) error { q.Contains = v; return nil }},
		{Name: "conductor_groups", Since: conductorGroupsSince, Apply: func(q *q, v string) error {
			q.ConductorGroups = strings.Split(strings.ToLower(v), ",")
			return nil
		}},
	}
}

// checkPortFilters refuses combinations that Ironic refuses.
func checkPortFilters(q node.PortQuery) error {
	exclusive := 0
	for _, used := range []bool{q.NodeUUID != "", q.PortgroupUUID != "", len(q.Shards) > 0} {
		if used {
			exclusive++
		}
	}
	if exclusive > 1 {
		return nodeapi.NewFault(http.StatusForbidden, "Operation not permitted.")
	}
	if len(q.ConductorGroups) > 0 && (q.NodeUUID != "" || q.PortgroupUUID != "" || q.Address != "") {
		return rest.BadRequest("Filtering by conductor_groups cannot be combined with node_ident, portgroup_ident, or node " +
			"address filters.")
	}
	return nil
}

// answerPorts answers a page of the ports that q and the filters leave.
func (h *portResource) answerPorts(c *rest.Call, q node.PortQuery, filters []rest.Filter[node.PortQuery],
	detail bool) error {
	if detail && c.QueryParams().Has("fields") {
		return rest.BadRequest("Unexpected arguments: fields")
	}
	p, err := c.Page(h.fields.SortKey, rest.FieldsSince, rest.DetailSince)
	if err != nil {
		return err
	}
	q.Project = c.Project()
	if err := rest.Narrow(c, &q, filters, rest.PageArgs()...); err != nil {
		return err
	}
	if err := checkPortFilters(q); err != nil {
		return err
	}
	if err := h.permitPortMarker(c, p.Marker); err != nil {
		return err
	}
	chosen := h.fields.Pick(c.Minor, defaultPortFields()...)
	if p.Fields != "" {
		if chosen, err = h.fields.Selected(c.Minor, p.Fields); err != nil {
			return err
		}
	} else if detail || p.Detail {
		chosen = h.fields.Full(c.Minor)
	}
	v := rest.View[node.Port]{Minor: c.Minor, Base: c.BaseURL()}
	return rest.AnswerList(h.Server, c, p, "ports", h.fields.Items(c.Minor, p, h.source(c, q)),
		func(p *node.Port) string { return p.UUID },
		func(dst []byte, of *node.Port) []byte {
			v.Of = of
			return h.fields.Render(dst, chosen, &v)
		})
}

// source reads the ports that match.
func (h *portResource) source(c *rest.Call, q node.PortQuery) rest.Source[node.Port] {
	ctx := c.Request().Context()
	return rest.Source[node.Port]{
		Each: func(after string, f func(*node.Port) bool) error {
			q.Marker = after
			return h.conductor.EachPort(ctx, q, f)
		},
		Find: func(uuid string) (*node.Port, error) { return unlessGone(h.conductor.Port(ctx, uuid)) },
		ID:   func(p *node.Port) string { return p.UUID }, Missing: noPort,
	}
}
