package api

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/auth"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// volumeSince is the microversion of everything about remote volumes.
const volumeSince = 32

// volumeRoutes is how nodes reach remote volumes: what they are known by there
// (connectors), and the volumes themselves (targets).
func (a *API) volumeRoutes() []route {
	unknown := nodeapi.Routing(http.StatusNotFound, "")
	connectors := &collection[node.VolumeConnector]{
		api: a, path: "volume/connectors", key: "connectors", since: volumeSince, tooOld: unknown, noun: "Volume connector", ident: "connector_uuid",
		fields: connectorTable(), brief: []string{"uuid", "connector_id", "type", "node_uuid", "links"}, required: []string{"connector_id", "node_uuid", "type"},
		id:      func(v *node.VolumeConnector) string { return v.UUID },
		node:    func(v *node.VolumeConnector) *string { return &v.NodeUUID },
		filters: func(c *call) []filter[narrowing[node.VolumeConnector]] { return nodeFilter[node.VolumeConnector](a, c) },
		kept:    a.conductor.Catalogs().VolumeConnectors,
	}
	targets := &collection[node.VolumeTarget]{
		api: a, path: "volume/targets", key: "targets", since: volumeSince, tooOld: unknown, noun: "Volume target", ident: "target_uuid",
		fields: targetTable(a.rules), brief: []string{"uuid", "boot_index", "volume_id", "volume_type", "node_uuid", "links"}, required: []string{"boot_index", "node_uuid", "volume_id", "volume_type"},
		id:      func(v *node.VolumeTarget) string { return v.UUID },
		node:    func(v *node.VolumeTarget) *string { return &v.NodeUUID },
		filters: func(c *call) []filter[narrowing[node.VolumeTarget]] { return nodeFilter[node.VolumeTarget](a, c) },
		kept:    a.conductor.Catalogs().VolumeTargets,
	}
	const ofNode = "/v1/nodes/:node/volume"
	rows := []route{
		{method: http.MethodGet, path: "/v1/volume", doc: "where connectors and targets are", handle: a.showVolume, wire: gives(volumeForm())},
		{method: http.MethodGet, path: ofNode, doc: "where those of a node are", handle: a.showNodeVolume, wire: gives(volumeForm())},
		{method: http.MethodGet, path: ofNode + "/connectors", doc: "volume connectors of a node", handle: connectors.listOf, wire: lists(connectors.fields, "connectors")},
		{method: http.MethodGet, path: ofNode + "/targets", doc: "volume targets of a node", handle: targets.listOf, wire: lists(targets.fields, "targets")},
	}
	for i := range rows {
		rows[i].since, rows[i].tooOld = volumeSince, unknown
	}
	return append(append(rows, connectors.routes()...), targets.routes()...)
}

// nodeFilter is the filter ?node= of records that belong to nodes.
func nodeFilter[T any](a *API, c *call) []filter[narrowing[T]] {
	return []filter[narrowing[T]]{{"node", 1, func(q *narrowing[T], ref string) error {
		id, err := a.nodeOf(c, ref)
		q.column, q.values = "node_uuid", []string{id}
		return err
	}}}
}

func connectorTable() *table[node.VolumeConnector] {
	type v = node.VolumeConnector
	return newTable("connector", []field[v]{
		identifier("uuid", 1, creatable, func(v *v) *string { return &v.UUID }),
		instant("created_at", 1, func(v *v) *time.Time { return &v.CreatedAt }),
		instant("updated_at", 1, func(v *v) *time.Time { return v.UpdatedAt }),
		needed(text("connector_id", 1, both, func(v *v) *string { return &v.ConnectorID })),
		object("extra", 1, both, nil, func(v *v) *map[string]any { return &v.Extra }),
		needed(text("type", 1, both, func(v *v) *string { return &v.Type })),
		shown("links", 1, 0, func(dst []byte, v *view[v]) []byte {
			return appendLinks(dst, v.base, "volume/connectors/"+v.of.UUID)
		}),
		needed(identifier("node_uuid", 1, both, func(v *v) *string { return &v.NodeUUID })),
	})
}

func targetTable(rules auth.Rules) *table[node.VolumeTarget] {
	type v = node.VolumeTarget
	return newTable("target", []field[v]{
		identifier("uuid", 1, creatable, func(v *v) *string { return &v.UUID }),
		instant("created_at", 1, func(v *v) *time.Time { return &v.CreatedAt }),
		instant("updated_at", 1, func(v *v) *time.Time { return v.UpdatedAt }),
		bootIndexField(),
		object("extra", 1, both, nil, func(v *v) *map[string]any { return &v.Extra }),
		redacted(rules, object("properties", 1, both, nodeapi.Mask, func(v *v) *map[string]any { return &v.Properties })),
		needed(text("volume_id", 1, both, func(v *v) *string { return &v.VolumeID })),
		needed(text("volume_type", 1, both, func(v *v) *string { return &v.VolumeType })),
		shown("links", 1, 0, func(dst []byte, v *view[v]) []byte {
			return appendLinks(dst, v.base, "volume/targets/"+v.of.UUID)
		}),
		needed(identifier("node_uuid", 1, both, func(v *v) *string { return &v.NodeUUID })),
	})
}

// redacted is a field of targets that may hold what opens the volume: those whom
// its rule does not allow see an object that says so.
func redacted(rules auth.Rules, f field[node.VolumeTarget]) field[node.VolumeTarget] {
	rule := rules.Of(http.MethodGet, "/v1/volume/targets/:ident", f.name)
	text := "** Value redacted: Requires permission " + rule.Name + " access. Permission denied. **"
	show := f.show
	f.show = func(dst []byte, v *view[node.VolumeTarget]) []byte {
		if v.caller == nil || rule.Allows(v.caller, "", "") {
			return show(dst, v)
		}
		return append(appendString(append(dst, `{"redacted_contents":`...), text), '}')
	}
	return f
}

// bootIndexField is a whole number.
func bootIndexField() field[node.VolumeTarget] {
	f := field[node.VolumeTarget]{name: "boot_index", since: 1, use: both | sortable, form: schema{"type": "integer"}}
	f.show = func(dst []byte, v *view[node.VolumeTarget]) []byte {
		return strconv.AppendInt(dst, int64(v.of.BootIndex), 10)
	}
	f.get = func(v *node.VolumeTarget) any { return v.BootIndex }
	f.set = func(v *node.VolumeTarget, value any) error {
		n, ok := value.(float64)
		if !ok || n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 {
			return wrongType(value, "integer")
		}
		v.BootIndex = int(n)
		return nil
	}
	return needed(f)
}

func (a *API) showVolume(c *call) error { return volumeLinks(c, "volume/") }

func (a *API) showNodeVolume(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	return volumeLinks(c, "nodes/" + n.UUID + "/volume/")
}

func volumeLinks(c *call, path string) error {
	return c.marshal(http.StatusOK, map[string]any{"links": c.links(path), "connectors": c.links(path + "connectors"), "targets": c.links(path + "targets")})
}
