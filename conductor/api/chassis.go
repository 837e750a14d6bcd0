package api

import (
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// chassis is the collection of chassis, which group nodes.
type chassis struct {
	collection[node.Chassis]
	nodesOf *nodeResource
}

// chassisResource makes the routes of chassis.
type chassisResource struct {
	access
	nodesOf *nodeResource
}

func (h *chassisResource) routes() []rest.Route {
	r := &chassis{collection: collection[node.Chassis]{
		access: &h.access, path: "chassis", since: 1, noun: "Chassis", ident: "chassis_uuid",
		fields: chassisTable(), brief: []string{"uuid", "description", "links"}, detail: true, detailSince: rest.DetailSince,
		id:   func(of *node.Chassis) string { return of.UUID },
		kept: h.conductor.Catalogs().Chassis,
	}, nodesOf: h.nodesOf}
	page := rest.Lists(h.nodesOf.fields, "nodes",
		rest.ArgumentsOf(h.nodesOf.nodeFilters(&rest.Call{Minor: nodeapi.MaxMinor}))...)
	return append(r.routes(),
		rest.Route{Method: http.MethodGet, Path: "/v1/chassis/:ident/nodes", Doc: "nodes in a chassis",
			Handle: func(c *rest.Call) error { return r.nodes(c, false) }, Wire: page},
		rest.Route{Method: http.MethodGet, Path: "/v1/chassis/:ident/nodes/detail", Doc: "the same with all fields",
			Handle: func(c *rest.Call) error { return r.nodes(c, true) }, Wire: page},
	)
}

// chassisTable is every field of a chassis.
func chassisTable() *rest.Table[node.Chassis] {
	type of = node.Chassis
	return rest.NewTable("chassis", []rest.Field[of]{
		rest.UUID("uuid", 1, rest.Creatable, func(of *of) *string { return &of.UUID }),
		rest.Time("created_at", 1, func(of *of) *time.Time { return &of.CreatedAt }),
		rest.Time("updated_at", 1, func(of *of) *time.Time { return of.UpdatedAt }),
		rest.Text("description", 1, both, func(of *of) *string { return &of.Description }),
		rest.Object("extra", 1, both, nil, func(of *of) *map[string]any { return &of.Extra }),
		rest.Computed("links", 1, 0, func(dst []byte, v *rest.View[of]) []byte {
			return rest.AppendLinks(dst, v.Base, "chassis/"+v.Of.UUID)
		}),
		// Ironic puts these links into a second list, and clients expect it.
		rest.Computed("nodes", 1, 0, func(dst []byte, v *rest.View[of]) []byte {
			return append(rest.AppendLinks(append(dst, '['), v.Base, "chassis/"+v.Of.UUID+"/nodes"), ']')
		}),
	})
}

func (r *chassis) nodes(c *rest.Call, detail bool) error {
	ref, err := r.ref(c)
	if err != nil {
		return err
	}
	of, err := r.kept.Find(c.Request().Context(), ref)
	if err != nil {
		return err
	}
	return r.nodesOf.answerNodesIn(c, of.UUID, detail)
}
