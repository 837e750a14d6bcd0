package api

import (
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// firmwareRoutes is the firmware of a node's components, as it was read last.
func (a *API) firmwareRoutes() []route {
	return []route{{
		method: http.MethodGet, path: "/v1/nodes/:node/firmware", since: 86, tooOld: nodeapi.Routing(http.StatusNotFound, ""),
		doc: "the firmware of a node's components", handle: a.listFirmware, wire: toldList("firmware", toldForm(a.firmware, "firmware_component"), firmwareColumns()),
	}}
}

// firmwareTable is every field of a component; which part it is in the trade
// came with 1.114.
func firmwareTable() *table[toldRow[node.FirmwareComponent]] {
	type row = toldRow[node.FirmwareComponent]
	part := func(name string, since int, at func(*node.FirmwareComponent) string) field[row] {
		return shown(name, since, 0, func(dst []byte, v *view[row]) []byte { return appendText(dst, at(&v.of.row)) })
	}
	return newTable("firmware component", []field[row]{
		instant("created_at", 86, func(r *row) *time.Time { return &r.row.CreatedAt }),
		instant("updated_at", 86, func(r *row) *time.Time { return &r.row.UpdatedAt }),
		part("component", 86, func(f *node.FirmwareComponent) string { return f.Component }),
		part("initial_version", 86, func(f *node.FirmwareComponent) string { return f.InitialVersion }),
		part("current_version", 86, func(f *node.FirmwareComponent) string { return f.CurrentVersion }),
		part("last_version_flashed", 86, func(f *node.FirmwareComponent) string { return f.LastVersionFlashed }),
		part("vendor", 114, func(f *node.FirmwareComponent) string { return f.Vendor }),
		part("model", 114, func(f *node.FirmwareComponent) string { return f.Model }),
		part("serial_number", 114, func(f *node.FirmwareComponent) string { return f.SerialNumber }),
	})
}

func firmwareColumns() toldColumns {
	all := []string{"component", "initial_version", "current_version", "last_version_flashed", "vendor", "model", "serial_number"}
	return toldColumns{since: 86, always: []string{"created_at", "updated_at"}, usual: all, detailed: all}
}

func (a *API) listFirmware(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	chosen, err := toldFields(c, a.firmware, firmwareColumns())
	if err != nil {
		return err
	}
	report, err := a.conductor.HardwareReport(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	return answerTold(a, c, "firmware", a.firmware, chosen, report.Firmware, func(node.FirmwareComponent) string { return "" })
}
