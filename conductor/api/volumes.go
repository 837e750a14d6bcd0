package api

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// volumeSince is the microversion of everything about remote volumes.
const volumeSince = 32

// volumeResource is the volume connectors and targets of nodes.
type volumeResource struct{ access }

// routes serves the remote volumes of nodes: the identities of nodes at the storage (connectors), and the volumes
// themselves (targets).
func (h *volumeResource) routes() []rest.Route {
	unknown := nodeapi.Routing(http.StatusNotFound, "")
	connectors := &collection[node.VolumeConnector]{
		access: &h.access, path: "volume/connectors", key: "connectors", since: volumeSince, tooOld: unknown,
		noun: "Volume connector", ident: "connector_uuid",
		fields: connectorTable(), brief: []string{"uuid", "connector_id", "type", "node_uuid", "links"},
		required: []string{"connector_id", "node_uuid", "type"},
		id:       func(v *node.VolumeConnector) string { return v.UUID },
		node:     func(v *node.VolumeConnector) *string { return &v.NodeUUID },
		filters: func(c *rest.Call) []rest.Filter[narrowing[node.VolumeConnector]] {
			return nodeFilter[node.VolumeConnector](&h.access, c)
		},
		kept: h.conductor.Catalogs().VolumeConnectors,
	}
	targets := &collection[node.VolumeTarget]{
		access: &h.access, path: "volume/targets", key: "targets", since: volumeSince, tooOld: unknown, noun: "Volume target",
		ident:  "target_uuid",
		fields: targetTable(h.Rules), brief: []string{"uuid", "boot_index", "volume_id", "volume_type", "node_uuid", "links"},
		required: []string{"boot_index", "node_uuid", "volume_id", "volume_type"},
		id:       func(v *node.VolumeTarget) string { return v.UUID },
		node:     func(v *node.VolumeTarget) *string { return &v.NodeUUID },
		filters: func(c *rest.Call) []rest.Filter[narrowing[node.VolumeTarget]] {
			return nodeFilter[node.VolumeTarget](&h.access, c)
		},
		kept: h.conductor.Catalogs().VolumeTargets,
	}
	const ofNode = "/v1/nodes/:node/volume"
	rows := []rest.Route{
		{Method: http.MethodGet, Path: "/v1/volume", Doc: "where connectors and targets are", Handle: h.showVolume,
			Wire: rest.Returns(volumeForm())},
		{Method: http.MethodGet, Path: ofNode, Doc: "the links to a node's connectors and targets", Handle: h.showNodeVolume,
			Wire: rest.Returns(volumeForm())},
		{Method: http.MethodGet, Path: ofNode + "/connectors", Doc: "volume connectors of a node", Handle: connectors.listOf,
			Wire: rest.Lists(connectors.fields, "connectors")},
		{Method: http.MethodGet, Path: ofNode + "/targets", Doc: "volume targets of a node", Handle: targets.listOf,
			Wire: rest.Lists(targets.fields, "targets")},
	}
	for i := range rows {
		rows[i].Since, rows[i].TooOld = volumeSince, unknown
	}
	return append(append(rows, connectors.routes()...), targets.routes()...)
}

// nodeFilter is the filter ?node= of records that belong to nodes.
func nodeFilter[T any](h *access, c *rest.Call) []rest.Filter[narrowing[T]] {
	return []rest.Filter[narrowing[T]]{{Name: "node", Since: 1, Apply: func(q *narrowing[T], ref string) error {
		id, err := h.nodeOf(c, ref)
		q.column, q.values = "node_uuid", []string{id}
		return err
	}}}
}

func connectorTable() *rest.Table[node.VolumeConnector] {
	type v = node.VolumeConnector
	return rest.NewTable("connector", []rest.Field[v]{
		rest.UUID("uuid", 1, rest.Creatable, func(v *v) *string { return &v.UUID }),
		rest.Time("created_at", 1, func(v *v) *time.Time { return &v.CreatedAt }),
		rest.Time("updated_at", 1, func(v *v) *time.Time { return v.UpdatedAt }),
		rest.Required(rest.Text("connector_id", 1, both, func(v *v) *string { return &v.ConnectorID })),
		rest.Object("extra", 1, both, nil, func(v *v) *map[string]any { return &v.Extra }),
		rest.Required(rest.Text("type", 1, both, func(v *v) *string { return &v.Type })),
		rest.Computed("links", 1, 0, func(dst []byte, v *rest.View[v]) []byte {
			return rest.AppendLinks(dst, v.Base, "volume/connectors/"+v.Of.UUID)
		}),
		rest.Required(rest.UUID("node_uuid", 1, both, func(v *v) *string { return &v.NodeUUID })),
	})
}

func targetTable(rules auth.Rules) *rest.Table[node.VolumeTarget] {
	type v = node.VolumeTarget
	return rest.NewTable("target", []rest.Field[v]{
		rest.UUID("uuid", 1, rest.Creatable, func(v *v) *string { return &v.UUID }),
		rest.Time("created_at", 1, func(v *v) *time.Time { return &v.CreatedAt }),
		rest.Time("updated_at", 1, func(v *v) *time.Time { return v.UpdatedAt }),
		bootIndexField(),
		rest.Object("extra", 1, both, nil, func(v *v) *map[string]any { return &v.Extra }),
		redacted(rules,
			rest.Object("properties", 1, both, nodeapi.Mask, func(v *v) *map[string]any { return &v.Properties })),
		rest.Required(rest.Text("volume_id", 1, both, func(v *v) *string { return &v.VolumeID })),
		rest.Required(rest.Text("volume_type", 1, both, func(v *v) *string { return &v.VolumeType })),
		rest.Computed("links", 1, 0, func(dst []byte, v *rest.View[v]) []byte {
			return rest.AppendLinks(dst, v.Base, "volume/targets/"+v.Of.UUID)
		}),
		rest.Required(rest.UUID("node_uuid", 1, both, func(v *v) *string { return &v.NodeUUID })),
	})
}

// redacted replaces a field of targets that may hold credentials of the volume. Callers that its rule does not allow
// get an object that says so.
func redacted(rules auth.Rules, f rest.Field[node.VolumeTarget]) rest.Field[node.VolumeTarget] {
	rule := rules.Of(http.MethodGet, "/v1/volume/targets/:ident", f.Name)
	text := "** Value redacted: Requires permission " + rule.Name + " access. Permission denied. **"
	show := f.Show
	f.Show = func(dst []byte, v *rest.View[node.VolumeTarget]) []byte {
		if v.Caller == nil || rule.Allows(v.Caller, "", "") {
			return show(dst, v)
		}
		return append(rest.AppendString(append(dst, `{"redacted_contents":`...), text), '}')
	}
	return f
}

// bootIndexField is a whole number.
func bootIndexField() rest.Field[node.VolumeTarget] {
	f := rest.Field[node.VolumeTarget]{Name: "boot_index", Since: 1, Use: both | rest.Sortable,
		Form: rest.Schema{"type": "integer"}}
	f.Show = func(dst []byte, v *rest.View[node.VolumeTarget]) []byte {
		return strconv.AppendInt(dst, int64(v.Of.BootIndex), 10)
	}
	f.Get = func(v *node.VolumeTarget) any { return v.BootIndex }
	f.Set = func(v *node.VolumeTarget, value any) error {
		n, ok := value.(float64)
		if !ok || n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 {
			return rest.WrongType(value, "integer")
		}
		v.BootIndex = int(n)
		return nil
	}
	return rest.Required(f)
}

func (h *volumeResource) showVolume(c *rest.Call) error { return volumeLinks(c, "volume/") }

func (h *volumeResource) showNodeVolume(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	return volumeLinks(c, "nodes/"+n.UUID+"/volume/")
}

func volumeLinks(c *rest.Call, path string) error {
	return c.Marshal(http.StatusOK, map[string]any{"links": c.Links(path), "connectors": c.Links(path + "connectors"),
		"targets": c.Links(path + "targets")})
}
