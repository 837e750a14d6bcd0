package api

import (
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// firmwareResource is the firmware components of a node.
type firmwareResource struct {
	access
	fields *rest.Table[hardwareRow[node.FirmwareComponent]]
}

// routes is the firmware of a node's components, as it was read last.
func (h *firmwareResource) routes() []rest.Route {
	return []rest.Route{{
		Method: http.MethodGet, Path: "/v1/nodes/:node/firmware", Since: 86, TooOld: nodeapi.Routing(http.StatusNotFound, ""),
		Doc: "the firmware of a node's components", Handle: h.listFirmware,
		Wire: rowList("firmware", rowForm(h.fields, "firmware_component"), firmwareColumns()),
	}}
}

// firmwareTable is every field of a component; which part it is in the trade
// came with 1.114.
func firmwareTable() *rest.Table[hardwareRow[node.FirmwareComponent]] {
	type row = hardwareRow[node.FirmwareComponent]
	part := func(name string, since int, at func(*node.FirmwareComponent) string) rest.Field[row] {
		return rest.Computed(name, since, 0, func(dst []byte, v *rest.View[row]) []byte {
			return rest.AppendText(dst, at(&v.Of.row))
		})
	}
	return rest.NewTable("firmware component", []rest.Field[row]{
		rest.Time("created_at", 86, func(r *row) *time.Time { return &r.row.CreatedAt }),
		rest.Time("updated_at", 86, func(r *row) *time.Time { return &r.row.UpdatedAt }),
		part("component", 86, func(f *node.FirmwareComponent) string { return f.Component }),
		part("initial_version", 86, func(f *node.FirmwareComponent) string { return f.InitialVersion }),
		part("current_version", 86, func(f *node.FirmwareComponent) string { return f.CurrentVersion }),
		part("last_version_flashed", 86, func(f *node.FirmwareComponent) string { return f.LastVersionFlashed }),
		part("vendor", 114, func(f *node.FirmwareComponent) string { return f.Vendor }),
		part("model", 114, func(f *node.FirmwareComponent) string { return f.Model }),
		part("serial_number", 114, func(f *node.FirmwareComponent) string { return f.SerialNumber }),
	})
}

func firmwareColumns() rowColumns {
	all := []string{"component", "initial_version", "current_version", "last_version_flashed", "vendor", "model",
		"serial_number"}
	return rowColumns{since: 86, always: []string{"created_at", "updated_at"}, usual: all, detailed: all}
}

func (h *firmwareResource) listFirmware(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	chosen, err := selectedRowFields(c, h.fields, firmwareColumns())
	if err != nil {
		return err
	}
	report, err := h.conductor.HardwareReport(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	return answerRows(&h.access, c, "firmware", h.fields, chosen, report.Firmware,
		func(node.FirmwareComponent) string { return "" })
}
