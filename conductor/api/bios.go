package api

import (
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// biosRoutes is the BIOS settings of a node, as they were read last.
func (a *API) biosRoutes() []route {
	unknown := nodeapi.Routing(http.StatusNotFound, "")
	setting := toldForm(a.bios, "bios_setting")
	return []route{
		{method: http.MethodGet, path: "/v1/nodes/:node/bios", since: 40, tooOld: unknown, doc: "the BIOS settings of a node", handle: a.listBIOS, wire: toldList("bios", setting, biosColumns())},
		{method: http.MethodGet, path: "/v1/nodes/:node/bios/:setting", since: 40, tooOld: unknown, doc: "one BIOS setting of a node", handle: a.showBIOS, wire: gives(schema{"type": "object", "additionalProperties": setting})},
	}
}

// biosTable is every field of a setting; what the BIOS's registry says of it
// came with 1.74.
func biosTable() *table[toldRow[node.BIOSSetting]] {
	type row = toldRow[node.BIOSSetting]
	number := func(name string, at func(*node.BIOSSetting) *int64) field[row] {
		return shown(name, 74, 0, func(dst []byte, v *view[row]) []byte { return appendWhole(dst, at(&v.of.row)) })
	}
	truth := func(name string, at func(*node.BIOSSetting) *bool) field[row] {
		return shown(name, 74, 0, func(dst []byte, v *view[row]) []byte { return appendBool(dst, at(&v.of.row)) })
	}
	return newTable("BIOS setting", []field[row]{
		instant("created_at", 40, func(r *row) *time.Time { return &r.row.CreatedAt }),
		instant("updated_at", 40, func(r *row) *time.Time { return &r.row.UpdatedAt }),
		shown("links", 40, 0, func(dst []byte, v *view[row]) []byte { return appendLinks(dst, v.base, v.of.path) }),
		shown("name", 40, 0, func(dst []byte, v *view[row]) []byte { return appendString(dst, v.of.row.Name) }),
		shown("value", 40, 0, func(dst []byte, v *view[row]) []byte { return appendMaybe(dst, v.of.row.Value) }),
		shown("attribute_type", 74, 0, func(dst []byte, v *view[row]) []byte { return appendText(dst, v.of.row.AttributeType) }),
		shown("allowable_values", 74, 0, func(dst []byte, v *view[row]) []byte { return appendTexts(dst, v.of.row.AllowableValues) }),
		number("lower_bound", func(s *node.BIOSSetting) *int64 { return s.LowerBound }),
		number("max_length", func(s *node.BIOSSetting) *int64 { return s.MaxLength }),
		number("min_length", func(s *node.BIOSSetting) *int64 { return s.MinLength }),
		truth("read_only", func(s *node.BIOSSetting) *bool { return s.ReadOnly }),
		truth("reset_required", func(s *node.BIOSSetting) *bool { return s.ResetRequired }),
		truth("unique", func(s *node.BIOSSetting) *bool { return s.Unique }),
		number("upper_bound", func(s *node.BIOSSetting) *int64 { return s.UpperBound }),
	})
}

func biosColumns() toldColumns {
	return toldColumns{
		since: 74, always: []string{"created_at", "updated_at", "links"}, usual: []string{"name", "value"},
		detailed: []string{
			"name", "value", "attribute_type", "allowable_values", "lower_bound", "max_length", "min_length", "read_only",
			"reset_required", "unique", "upper_bound",
		},
	}
}

func (a *API) listBIOS(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	chosen, err := toldFields(c, a.bios, biosColumns())
	if err != nil {
		return err
	}
	report, err := a.conductor.HardwareReport(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	return answerTold(a, c, "bios", a.bios, chosen, report.BIOS, func(s node.BIOSSetting) string {
		return "nodes/" + c.Param("node") + "/bios/" + s.Name
	})
}

// showBIOS answers {"name of the setting": setting}.
func (a *API) showBIOS(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	if err := unexpected(sortedKeys(c.QueryParams()), nil); err != nil {
		return err
	}
	report, err := a.conductor.HardwareReport(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	name, columns := c.Param("setting"), biosColumns()
	for _, s := range report.BIOS {
		if s.Name != name {
			continue
		}
		chosen := a.bios.pick(c.minor, append(columns.always, columns.detailed...)...)
		v := view[toldRow[node.BIOSSetting]]{of: &toldRow[node.BIOSSetting]{s, "nodes/" + n.UUID + "/bios/" + name}, minor: c.minor, base: c.base()}
		return a.buffer(c, http.StatusOK, func(dst []byte) []byte {
			dst = append(appendString(append(dst, '{'), name), ':')
			return append(a.bios.render(dst, chosen, &v), '}')
		})
	}
	return nodeapi.NewFault(http.StatusNotFound, "Node %s doesn't have a BIOS setting '%s'", n.UUID, name)
}
