package api

import (
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// chassis is the collection of what nodes are built into.
type chassis struct{ collection[node.Chassis] }

func (a *API) chassisRoutes() []route {
	r := &chassis{collection[node.Chassis]{
		api: a, path: "chassis", since: 1, noun: "Chassis", ident: "chassis_uuid",
		fields: chassisTable(), brief: []string{"uuid", "description", "links"}, detail: true, detailSince: detailSince,
		id:   func(of *node.Chassis) string { return of.UUID },
		kept: a.conductor.Catalogs().Chassis,
	}}
	page := lists(a.nodes, "nodes", argumentsOf(a.nodeFilters(&call{minor: nodeapi.MaxMinor}))...)
	return append(r.routes(),
		route{method: http.MethodGet, path: "/v1/chassis/:ident/nodes", doc: "nodes in a chassis", handle: func(c *call) error { return r.nodes(c, false) }, wire: page},
		route{method: http.MethodGet, path: "/v1/chassis/:ident/nodes/detail", doc: "the same with all fields", handle: func(c *call) error { return r.nodes(c, true) }, wire: page},
	)
}

// chassisTable is every field of a chassis.
func chassisTable() *table[node.Chassis] {
	type of = node.Chassis
	return newTable("chassis", []field[of]{
		identifier("uuid", 1, creatable, func(of *of) *string { return &of.UUID }),
		instant("created_at", 1, func(of *of) *time.Time { return &of.CreatedAt }),
		instant("updated_at", 1, func(of *of) *time.Time { return of.UpdatedAt }),
		text("description", 1, both, func(of *of) *string { return &of.Description }),
		object("extra", 1, both, nil, func(of *of) *map[string]any { return &of.Extra }),
		shown("links", 1, 0, func(dst []byte, v *view[of]) []byte { return appendLinks(dst, v.base, "chassis/"+v.of.UUID) }),
		// Ironic puts these links into a second list, and clients expect it.
		shown("nodes", 1, 0, func(dst []byte, v *view[of]) []byte {
			return append(appendLinks(append(dst, '['), v.base, "chassis/"+v.of.UUID+"/nodes"), ']')
		}),
	})
}

func (r *chassis) nodes(c *call, detail bool) error {
	ref, err := r.ref(c)
	if err != nil {
		return err
	}
	of, err := r.kept.Find(c.Request().Context(), ref)
	if err != nil {
		return err
	}
	return r.api.answerNodesIn(c, of.UUID, detail)
}
