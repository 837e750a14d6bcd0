package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The microversions of portgroups, and of their being a part of nodes and
// having ports of their own.
const (
	portgroupSince   = 23
	portgroupOfSince = 24
)

// portgroups is the collection of ports that work as one.
type portgroups struct{ collection[node.Portgroup] }

func (a *API) portgroupRoutes() []route {
	r := &portgroups{collection[node.Portgroup]{
		api: a, path: "portgroups", since: portgroupSince, tooOld: noResource(), noun: "Portgroup", ident: "portgroup_ident",
		fields: portgroupTable(), brief: []string{"uuid", "address", "name", "links"}, required: []string{"node_uuid"},
		id:     func(g *node.Portgroup) string { return g.UUID },
		detail: true, detailSince: detailSince,
		node:  func(g *node.Portgroup) *string { return &g.NodeUUID },
		blank: node.Portgroup{Mode: node.DefaultMode, StandalonePorts: true},
		kept:  a.conductor.Catalogs().Portgroups,
	}}
	r.filters = r.narrowing
	ports, groups := lists(a.ports, "ports"), lists(r.fields, "portgroups")
	rows := []route{
		{method: http.MethodGet, path: "/v1/portgroups/:ident/ports", doc: "ports of a portgroup", handle: func(c *call) error { return r.ports(c, false) }, wire: ports},
		{method: http.MethodGet, path: "/v1/portgroups/:ident/ports/detail", doc: "the same with all fields", handle: func(c *call) error { return r.ports(c, true) }, wire: ports},
		{method: http.MethodGet, path: "/v1/nodes/:node/portgroups", doc: "portgroups of a node", handle: r.listOf, wire: groups},
		{method: http.MethodGet, path: "/v1/nodes/:node/portgroups/detail", doc: "the same with all fields", handle: r.listDetailOf, wire: groups},
	}
	for i := range rows {
		rows[i].since, rows[i].tooOld = portgroupOfSince, nodeapi.Routing(http.StatusNotFound, "")
	}
	return append(r.routes(), rows...)
}

// portgroupTable is every field of a portgroup with the microversion it
// appears in.
func portgroupTable() *table[node.Portgroup] {
	type g = node.Portgroup
	return newTable("portgroup", []field[g]{
		identifier("uuid", 1, creatable, func(g *g) *string { return &g.UUID }),
		instant("created_at", 1, func(g *g) *time.Time { return &g.CreatedAt }),
		instant("updated_at", 1, func(g *g) *time.Time { return g.UpdatedAt }),
		hardware("address", 1, both, func(g *g) *string { return &g.Address }),
		sized("category", 103, both, maxCategory, func(g *g) *string { return &g.Category }),
		// Portgroups that are made for a VIF and go with it are Neutron's.
		shown("dynamic_portgroup", 111, 0, func(dst []byte, _ *view[g]) []byte { return append(dst, "false"...) }),
		object("extra", 1, both, nil, func(g *g) *map[string]any { return &g.Extra }),
		object("internal_info", 1, 0, nodeapi.Mask, func(g *g) *map[string]any { return &g.InternalInfo }),
		modeField(),
		logicalName("portgroup", 1, both, func(g *g) *string { return &g.Name }),
		filled(sized("physical_network", 102, both, maxNetwork, func(g *g) *string { return &g.PhysicalNetwork })),
		object("properties", 26, both, nil, func(g *g) *map[string]any { return &g.Properties }),
		flag("standalone_ports_supported", 1, both, true, func(g *g) *bool { return &g.StandalonePorts }),
		needed(identifier("node_uuid", 1, both, func(g *g) *string { return &g.NodeUUID })),
		shown("links", 1, 0, func(dst []byte, v *view[g]) []byte { return appendLinks(dst, v.base, "portgroups/"+v.of.UUID) }),
		shown("ports", 1, 0, func(dst []byte, v *view[g]) []byte {
			return appendLinks(dst, v.base, "portgroups/"+v.of.UUID+"/ports")
		}),
	})
}

// modeField is the mode of the bond. A new portgroup need not name one, but
// none can be taken away.
func modeField() field[node.Portgroup] {
	f := text("mode", 26, both, func(g *node.Portgroup) *string { return &g.Mode })
	set := f.set
	f.set = func(g *node.Portgroup, value any) error {
		switch isNew := g.CreatedAt.IsZero(); {
		case value != nil && value != "":
			return set(g, value)
		case !isNew:
			return badRequest("'mode' is a mandatory attribute and can not be removed")
		}
		g.Mode = node.DefaultMode
		return nil
	}
	return f
}

// narrowing is the filters of the list. Node and address may be asked for
// together, as Nova does and Ironic took until it could filter by shard; another
// filter stands alone.
func (r *portgroups) narrowing(c *call) []filter[narrowing[node.Portgroup]] {
	type q = narrowing[node.Portgroup]
	used, single := false, false
	combined := func(isSingle bool, apply func(q *q, value string) error) func(*q, string) error {
		return func(q *q, value string) error {
			if single || isSingle && used {
				return badRequest("Filtering by node, address, or shard simultaneously is not supported.")
			}
			used, single = true, isSingle
			return apply(q, value)
		}
	}
	paired := func(apply func(q *q, value string) error) func(*q, string) error { return combined(false, apply) }
	alone := func(apply func(q *q, value string) error) func(*q, string) error { return combined(true, apply) }
	ofNodes := func(q *q, queries ...node.Query) error {
		of, err := r.api.uuidsOf(c, queries)
		q.keep = append(q.keep, func(g *node.Portgroup) bool { return of[g.NodeUUID] })
		return err
	}
	return []filter[q]{
		{"node", 1, paired(nodeFilter[node.Portgroup](r.api, c)[0].apply)},
		{"address", 1, paired(func(q *q, v string) error {
			mac, err := asMAC("address", v)
			if q.column == "" {
				q.column, q.values = "address", []string{mac}
			} else { // those of the node are few
				q.keep = append(q.keep, func(g *node.Portgroup) bool { return g.Address == mac })
			}
			return err
		})},
		{"shard", 106, alone(func(q *q, v string) error {
			return ofNodes(q, node.Query{Shards: strings.Split(v, ",")})
		})},
		{"conductor_groups", conductorGroupsSince, alone(func(q *q, v string) error {
			var queries []node.Query
			for group := range strings.SplitSeq(strings.ToLower(v), ",") {
				queries = append(queries, node.Query{ConductorGroup: &group})
			}
			return ofNodes(q, queries...)
		})},
	}
}

// uuidsOf is the UUIDs of the nodes that one of the queries finds.
func (a *API) uuidsOf(c *call, queries []node.Query) (map[string]bool, error) {
	found := map[string]bool{}
	for _, q := range queries {
		q.WithChildren = true
		nodes, err := a.conductor.Nodes(c.Request().Context(), q)
		if err != nil {
			return nil, err
		}
		for i := range nodes {
			found[nodes[i].UUID] = true
		}
	}
	return found, nil
}

func (r *portgroups) ports(c *call, detail bool) error {
	ref, err := r.ref(c)
	if err != nil {
		return err
	}
	g, err := r.find(c, ref)
	if err != nil {
		return err
	}
	return r.api.answerPorts(c, node.PortQuery{PortgroupUUID: g.UUID}, nil, detail)
}
