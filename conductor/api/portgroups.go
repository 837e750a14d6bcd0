package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The microversions of portgroups, and of their being a part of nodes and
// having ports of their own.
const (
	portgroupSince   = 23
	portgroupOfSince = 24
	portgroupMode    = 26 // mode and properties
)

// portgroups is the collection of ports that work as one.
type portgroups struct {
	collection[node.Portgroup]
	portsOf *portResource
}

// portgroupResource makes the routes of portgroups.
type portgroupResource struct {
	access
	portsOf *portResource
}

func (h *portgroupResource) routes() []rest.Route {
	r := &portgroups{collection: collection[node.Portgroup]{
		access: &h.access, path: "portgroups", since: portgroupSince, tooOld: rest.NoResource(), noun: "Portgroup",
		ident:  "portgroup_ident",
		fields: portgroupTable(), brief: []string{"uuid", "address", "name", "links"}, required: []string{"node_uuid"},
		id:     func(g *node.Portgroup) string { return g.UUID },
		detail: true, detailSince: rest.DetailSince,
		node: func(g *node.Portgroup) *string { return &g.NodeUUID },
		// Ironic's is_path_updated, by which it guards mode and properties, looks at the first operation only.
		firstJudged: true,
		fullSince:   portgroupMode, // as Ironic 21.4 shows them, and tempest's tests in 1.23 expect
		blank:       node.Portgroup{Mode: node.DefaultMode, StandalonePorts: true},
		kept:        h.conductor.Catalogs().Portgroups,
	}, portsOf: h.portsOf}
	r.filters = r.narrowing
	ports, groups := rest.Lists(h.portsOf.fields, "ports"), rest.Lists(r.fields, "portgroups")
	rows := []rest.Route{
		{Method: http.MethodGet, Path: "/v1/portgroups/:ident/ports", Doc: "ports of a portgroup",
			Handle: func(c *rest.Call) error { return r.ports(c, false) }, Wire: ports},
		{Method: http.MethodGet, Path: "/v1/portgroups/:ident/ports/detail", Doc: "the same with all fields",
			Handle: func(c *rest.Call) error { return r.ports(c, true) }, Wire: ports},
		{Method: http.MethodGet, Path: "/v1/nodes/:node/portgroups", Doc: "portgroups of a node", Handle: r.listOf,
			Wire: groups},
		{Method: http.MethodGet, Path: "/v1/nodes/:node/portgroups/detail", Doc: "the same with all fields",
			Handle: r.listDetailOf, Wire: groups},
	}
	for i := range rows {
		rows[i].Since, rows[i].TooOld = portgroupOfSince, nodeapi.Routing(http.StatusNotFound, "")
	}
	return append(r.routes(), rows...)
}

// portgroupTable is every field of a portgroup with the microversion it
// appears in.
func portgroupTable() *rest.Table[node.Portgroup] {
	type g = node.Portgroup
	return rest.NewTable("portgroup", []rest.Field[g]{
		rest.UUID("uuid", 1, rest.Creatable, func(g *g) *string { return &g.UUID }),
		rest.Time("created_at", 1, func(g *g) *time.Time { return &g.CreatedAt }),
		rest.Time("updated_at", 1, func(g *g) *time.Time { return g.UpdatedAt }),
		hardware("address", 1, both, func(g *g) *string { return &g.Address }),
		rest.Sized("category", 103, both, maxCategory, func(g *g) *string { return &g.Category }),
		// Portgroups that are made for a VIF and go with it are Neutron's.
		rest.Computed("dynamic_portgroup", 111, 0, func(dst []byte, _ *rest.View[g]) []byte {
			return append(dst, "false"...)
		}),
		rest.Object("extra", 1, both, nil, func(g *g) *map[string]any { return &g.Extra }),
		rest.Object("internal_info", 1, 0, nodeapi.Mask, func(g *g) *map[string]any { return &g.InternalInfo }),
		modeField(),
		rest.Name("portgroup", 1, both, node.ValidName, func(g *g) *string { return &g.Name }),
		rest.NonEmpty(rest.Sized("physical_network", 102, both, maxNetwork,
			func(g *g) *string { return &g.PhysicalNetwork })),
		rest.Object("properties", 26, both, nil, func(g *g) *map[string]any { return &g.Properties }),
		rest.Flag("standalone_ports_supported", 1, both, true, func(g *g) *bool { return &g.StandalonePorts }),
		rest.Required(rest.UUID("node_uuid", 1, both, func(g *g) *string { return &g.NodeUUID })),
		rest.Computed("links", 1, 0, func(dst []byte, v *rest.View[g]) []byte {
			return rest.AppendLinks(dst, v.Base, "portgroups/"+v.Of.UUID)
		}),
		rest.Computed("ports", 1, 0, func(dst []byte, v *rest.View[g]) []byte {
			return rest.AppendLinks(dst, v.Base, "portgroups/"+v.Of.UUID+"/ports")
		}),
	})
}

// modeField is the mode of the bond. A new portgroup need not name one, but
// none can be taken away.
func modeField() rest.Field[node.Portgroup] {
	f := rest.Text("mode", 26, both, func(g *node.Portgroup) *string { return &g.Mode })
	set := f.Set
	f.Set = func(g *node.Portgroup, value any) error {
		switch isNew := g.CreatedAt.IsZero(); {
		case value != nil && value != "":
			return set(g, value)
		case !isNew:
			return rest.BadRequest("'mode' is a mandatory attribute and can not be removed")
		}
		g.Mode = node.DefaultMode
		return nil
	}
	return f
}

// narrowing has the filters of the list. Node and address may be combined, as Nova does and as Ironic allowed until it
// could filter by shard. Any other filter stands alone.
func (r *portgroups) narrowing(c *rest.Call) []rest.Filter[narrowing[node.Portgroup]] {
	type q = narrowing[node.Portgroup]
	used, single := false, false
	combined := func(isSingle bool, apply func(q *q, value string) error) func(*q, string) error {
		return func(q *q, value string) error {
			if single || isSingle && used {
				return rest.BadRequest("Filtering by node, address, or shard simultaneously is not supported.")
			}
			used, single = true, isSingle
			return apply(q, value)
		}
	}
	paired := func(apply func(q *q, value string) error) func(*q, string) error { return combined(false, apply) }
	alone := func(apply func(q *q, value string) error) func(*q, string) error { return combined(true, apply) }
	ofNodes := func(q *q, queries ...node.Query) error {
		of, err := r.access.uuidsOf(c, queries)
		q.keep = append(q.keep, func(g *node.Portgroup) bool { return of[g.NodeUUID] })
		return err
	}
	return []rest.Filter[q]{
		{Name: "node", Since: 1, Apply: paired(nodeFilter[node.Portgroup](r.access, c)[0].Apply)},
		{Name: "address", Since: 1, Apply: paired(func(q *q, v string) error {
			mac, err := asMAC("address", v)
			if q.column == "" {
				q.column, q.values = "address", []string{mac}
			} else { // a node has few portgroups
				q.keep = append(q.keep, func(g *node.Portgroup) bool { return g.Address == mac })
			}
			return err
		})},
		{Name: "shard", Since: 106, Apply: alone(func(q *q, v string) error {
			return ofNodes(q, node.Query{Shards: strings.Split(v, ",")})
		})},
		{Name: "conductor_groups", Since: conductorGroupsSince, Apply: alone(func(q *q, v string) error {
			var queries []node.Query
			for group := range strings.SplitSeq(strings.ToLower(v), ",") {
				queries = append(queries, node.Query{ConductorGroup: &group})
			}
			return ofNodes(q, queries...)
		})},
	}
}

func (r *portgroups) ports(c *rest.Call, detail bool) error {
	ref, err := r.ref(c)
	if err != nil {
		return err
	}
	g, err := r.find(c, ref)
	if err != nil {
		return err
	}
	return r.portsOf.answerPorts(c, node.PortQuery{PortgroupUUID: g.UUID}, nil, detail)
}
