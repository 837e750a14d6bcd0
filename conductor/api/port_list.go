package api

import (
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The lists of ports: all, those of a node, those of a portgroup.

func (a *API) listPorts(c *call) error {
	return a.answerPorts(c, node.PortQuery{}, a.portFilters(c), false)
}

func (a *API) listPortsDetail(c *call) error {
	return a.answerPorts(c, node.PortQuery{}, a.portFilters(c), true)
}

func (a *API) listNodePorts(c *call, detail bool) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	return a.answerPorts(c, node.PortQuery{NodeUUID: n.UUID}, nil, detail)
}

// conductorGroupsSince is the microversion of lists of ports and portgroups by
// their nodes' conductor groups.
const conductorGroupsSince = 99

// portFilters is every filter of the list of ports. What is named in them is
// looked up first.
func (a *API) portFilters(c *call) []filter[node.PortQuery] {
	type q = node.PortQuery
	byNode := func(q *q, ref string) (err error) { q.NodeUUID, err = a.nodeOf(c, ref); return err }
	return []filter[q]{
		{"address", 1, func(q *q, v string) (err error) { q.Address, err = asMAC("address", v); return err }},
		{"node", 6, byNode},
		{"node_uuid", 1, func(q *q, v string) error {
			if _, err := asUUID("node_uuid", v); err != nil {
				return err
			}
			return byNode(q, v)
		}},
		{"portgroup", portgroupOfSince, func(q *q, ref string) error {
			if err := checkIdent("portgroup", ref); err != nil {
				return err
			}
			g, err := a.conductor.Catalogs().Portgroups.Find(c.Request().Context(), ref)
			if err != nil {
				return err
			}
			q.PortgroupUUID = g.UUID
			visible, err := a.visiblePart(c, g.NodeUUID)
			if err == nil && !visible {
				return node.Refuse(node.NotFound, "Portgroup %s could not be found.", ref)
			}
			return err
		}},
		{"shard", 82, func(q *q, v string) error { q.Shards = strings.Split(v, ","); return nil }},
		{"description_contains", 97, func(q *q, v string) error { q.Contains = v; return nil }},
		{"conductor_groups", conductorGroupsSince, func(q *q, v string) error {
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
		return badRequest("Filtering by conductor_groups cannot be combined with node_ident, portgroup_ident, or node address filters.")
	}
	return nil
}

// nodeOf is the UUID of the node that a filter names.
func (a *API) nodeOf(c *call, ref string) (string, error) {
	if err := checkIdent("node", ref); err != nil {
		return "", err
	}
	n, err := a.conductor.Node(c.Request().Context(), ref)
	if isNotFound(err) || err == nil && !a.visible(c, &n) {
		return "", noNode(ref)
	}
	return n.UUID, err
}

// answerPorts answers a page of the ports that q and the filters leave.
func (a *API) answerPorts(c *call, q node.PortQuery, filters []filter[node.PortQuery], detail bool) error {
	if detail && c.QueryParams().Has("fields") {
		return badRequest("Unexpected arguments: fields")
	}
	p, err := c.page(a.ports.sortKey, fieldsSince, detailSince)
	if err != nil {
		return err
	}
	q.Project, q.Marker, q.Limit = c.project(), p.marker, p.limit+1
	if err := narrow(c, &q, filters, pageArgs()...); err != nil {
		return err
	}
	if err := checkPortFilters(q); err != nil {
		return err
	}
	if err := a.permitPortMarker(c, p.marker); err != nil {
		return err
	}
	chosen := a.ports.pick(c.minor, defaultPortFields()...)
	if p.fields != "" {
		if chosen, err = a.ports.asked(c.minor, p.fields); err != nil {
			return err
		}
	} else if detail || p.detail {
		chosen = a.ports.full(c.minor)
	}
	ports, err := a.findPorts(c, q, p)
	if err != nil {
		return err
	}
	v := view[node.Port]{minor: c.minor, base: c.base()}
	return a.buffer(c, http.StatusOK, func(dst []byte) []byte {
		return appendList(dst, c, p, "ports", ports, func(p *node.Port) string { return p.UUID }, func(dst []byte, of *node.Port) []byte {
			v.of = of
			return a.ports.render(dst, chosen, &v)
		})
	})
}

// findPorts reads a page. The store keeps ports in the order of creation;
// another order is made here, of all that match.
func (a *API) findPorts(c *call, q node.PortQuery, p page) ([]node.Port, error) {
	ctx := c.Request().Context()
	if p.sortKey == "" && !p.desc {
		return a.conductor.Ports(ctx, q)
	}
	q.Marker, q.Limit = "", 0
	ports, err := a.conductor.Ports(ctx, q)
	if err != nil {
		return nil, err
	}
	return cut(a.ports, c.minor, ports, p, func(p *node.Port) string { return p.UUID }, noPort)
}
