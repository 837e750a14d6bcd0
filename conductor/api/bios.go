package api

import (
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// biosResource is the BIOS settings of a node.
type biosResource struct {
	access
	fields *rest.Table[hardwareRow[node.BIOSSetting]]
}

// routes is the BIOS settings of a node, as they were read last.
func (h *biosResource) routes() []rest.Route {
	unknown := nodeapi.Routing(http.StatusNotFound, "")
	setting := rowForm(h.fields, "bios_setting")
	return []rest.Route{
		{Method: http.MethodGet, Path: "/v1/nodes/:node/bios", Since: 40, TooOld: unknown, Doc: "the BIOS settings of a node",
			Handle: h.listBIOS, Wire: rowList("bios", setting, biosColumns())},
		{Method: http.MethodGet, Path: "/v1/nodes/:node/bios/:setting", Since: 40, TooOld: unknown,
			Doc: "one BIOS setting of a node", Handle: h.showBIOS,
			Wire: rest.Returns(rest.Schema{"type": "object", "additionalProperties": setting})},
	}
}

// biosTable has every field of a setting. The fields from the BIOS's attribute registry came with 1.74.
func biosTable() *rest.Table[hardwareRow[node.BIOSSetting]] {
	type row = hardwareRow[node.BIOSSetting]
	number := func(name string, at func(*node.BIOSSetting) *int64) rest.Field[row] {
		return rest.Computed(name, 74, 0, func(dst []byte, v *rest.View[row]) []byte {
			return rest.AppendWhole(dst, at(&v.Of.row))
		})
	}
	truth := func(name string, at func(*node.BIOSSetting) *bool) rest.Field[row] {
		return rest.Computed(name, 74, 0, func(dst []byte, v *rest.View[row]) []byte {
			return rest.AppendBool(dst, at(&v.Of.row))
		})
	}
	return rest.NewTable("BIOS setting", []rest.Field[row]{
		rest.Time("created_at", 40, func(r *row) *time.Time { return &r.row.CreatedAt }),
		rest.Time("updated_at", 40, func(r *row) *time.Time { return &r.row.UpdatedAt }),
		rest.Computed("links", 40, 0, func(dst []byte, v *rest.View[row]) []byte {
			return rest.AppendLinks(dst, v.Base, v.Of.path)
		}),
		rest.Computed("name", 40, 0, func(dst []byte, v *rest.View[row]) []byte {
			return rest.AppendString(dst, v.Of.row.Name)
		}),
		rest.Computed("value", 40, 0, func(dst []byte, v *rest.View[row]) []byte {
			return rest.AppendMaybe(dst, v.Of.row.Value)
		}),
		rest.Computed("attribute_type", 74, 0, func(dst []byte, v *rest.View[row]) []byte {
			return rest.AppendText(dst, v.Of.row.AttributeType)
		}),
		rest.Computed("allowable_values", 74, 0, func(dst []byte, v *rest.View[row]) []byte {
			return rest.AppendTexts(dst, v.Of.row.AllowableValues)
		}),
		number("lower_bound", func(s *node.BIOSSetting) *int64 { return s.LowerBound }),
		number("max_length", func(s *node.BIOSSetting) *int64 { return s.MaxLength }),
		number("min_length", func(s *node.BIOSSetting) *int64 { return s.MinLength }),
		truth("read_only", func(s *node.BIOSSetting) *bool { return s.ReadOnly }),
		truth("reset_required", func(s *node.BIOSSetting) *bool { return s.ResetRequired }),
		truth("unique", func(s *node.BIOSSetting) *bool { return s.Unique }),
		number("upper_bound", func(s *node.BIOSSetting) *int64 { return s.UpperBound }),
	})
}

func biosColumns() rowColumns {
	return rowColumns{
		since: 74, always: []string{"created_at", "updated_at", "links"}, usual: []string{"name", "value"},
		detailed: []string{
			"name", "value", "attribute_type", "allowable_values", "lower_bound", "max_length", "min_length", "read_only",
			"reset_required", "unique", "upper_bound",
		},
	}
}

func (h *biosResource) listBIOS(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	chosen, err := selectedRowFields(c, h.fields, biosColumns())
	if err != nil {
		return err
	}
	report, err := h.conductor.HardwareReport(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	return answerRows(&h.access, c, "bios", h.fields, chosen, report.BIOS, func(s node.BIOSSetting) string {
		return "nodes/" + c.Param("node") + "/bios/" + s.Name
	})
}

// showBIOS answers {"name of the setting": setting}.
func (h *biosResource) showBIOS(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	if err := rest.Unexpected(rest.SortedKeys(c.QueryParams()), nil); err != nil {
		return err
	}
	report, err := h.conductor.HardwareReport(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	name, columns := c.Param("setting"), biosColumns()
	for _, s := range report.BIOS {
		if s.Name != name {
			continue
		}
		chosen := h.fields.Pick(c.Minor, append(columns.always, columns.detailed...)...)
		v := rest.View[hardwareRow[node.BIOSSetting]]{
			Of: &hardwareRow[node.BIOSSetting]{s, "nodes/" + n.UUID + "/bios/" + name}, Minor: c.Minor, Base: c.BaseURL(),
		}
		return h.Buffer(c, http.StatusOK, func(dst []byte) []byte {
			dst = append(rest.AppendString(append(dst, '{'), name), ':')
			return append(h.fields.Render(dst, chosen, &v), '}')
		})
	}
	return nodeapi.NewFault(http.StatusNotFound, "Node %s doesn't have a BIOS setting '%s'", n.UUID, name)
}
