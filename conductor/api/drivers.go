package api

import (
	"net/http"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// driverResource is the hardware types.
type driverResource struct{ access }

// routes serves the enabled hardware types.
func (h *driverResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: "/v1/drivers", Doc: "the enabled hardware types", Handle: h.listDrivers,
			Wire: rest.Returns(rest.PageForm("drivers", driverForm()), "type", "detail", "fields")},
		{Method: http.MethodGet, Path: "/v1/drivers/:driver", Doc: "one hardware type with its interfaces",
			Handle: h.showDriver, Wire: rest.Returns(driverForm())},
		{Method: http.MethodGet, Path: "/v1/drivers/:driver/properties", Doc: "the keys its driver_info can have",
			Handle: h.driverProperties, Wire: rest.Returns(rest.FormOf(map[string]string{}))},
	}
}

// interfaceSince is the first microversion of each kind of interface. 1.30 introduced hardware types, with most kinds.
func interfaceSince(kind string) int {
	switch kind {
	case "storage":
		return 33
	case "rescue":
		return 38
	case "bios":
		return 40
	case "firmware":
		return 86
	}
	return 30
}

func (h *driverResource) listDrivers(c *rest.Call) error {
	q := c.QueryParams()
	if err := rest.Unexpected(rest.SortedKeys(q), []string{"type", "detail", "fields"}); err != nil {
		return err
	}
	if (q.Has("type") || q.Has("detail")) && c.Minor < 30 {
		return rest.NotAcceptable()
	}
	kind, detail := q.Get("type"), false
	if kind != "" && kind != "dynamic" && kind != "classic" {
		return rest.BadRequest(`The type %q is not valid: it is classic or dynamic`, kind)
	}
	if q.Has("detail") {
		var err error
		if detail, err = rest.ParseBool("detail", q.Get("detail")); err != nil {
			return err
		}
	}
	drivers := []map[string]any{}
	for _, hw := range h.conductor.HardwareTypes() {
		if kind != "classic" { // there are none of that kind any more
			drivers = append(drivers, h.driver(c, hw, detail))
		}
	}
	return c.Marshal(http.StatusOK, map[string]any{"drivers": drivers})
}

// driver is one hardware type as JSON.
func (h *driverResource) driver(c *rest.Call, hw node.HardwareType, detail bool) map[string]any {
	d := map[string]any{"name": hw.Name, "hosts": []string{h.conductor.ConductorName()},
		"links": c.Links("drivers/" + hw.Name)}
	if c.Minor >= 14 {
		d["properties"] = c.Links("drivers/" + hw.Name + "/properties")
	}
	if c.Minor < 30 {
		return d
	}
	d["type"] = "dynamic"
	if !detail {
		return d
	}
	for kind, names := range hw.Interfaces {
		if interfaceSince(kind) <= c.Minor {
			d["default_"+kind+"_interface"], d["enabled_"+kind+"_interfaces"] = rest.Nullable(hw.Default(kind)), names
		}
	}
	return d
}

func (h *driverResource) showDriver(c *rest.Call) error {
	hw, err := hardwareType(c, h.conductor.HardwareTypes())
	if err != nil {
		return err
	}
	return c.Marshal(http.StatusOK, h.driver(c, hw, true))
}

func (h *driverResource) driverProperties(c *rest.Call) error {
	hw, err := hardwareType(c, h.conductor.HardwareTypes())
	if err != nil {
		return err
	}
	properties := map[string]string{}
	for _, k := range node.Keys {
		if k.Place == node.InDriverInfo && k.Treatment == node.Acted &&
			(k.Hardware == "" || k.Hardware == node.BaseType(hw.Name)) {
			properties[k.Name] = k.Text
		}
	}
	return c.Marshal(http.StatusOK, properties)
}

// hardwareType finds the one a path names.
func hardwareType(c *rest.Call, all []node.HardwareType) (node.HardwareType, error) {
	name := c.Param("driver")
	i := slices.IndexFunc(all, func(hw node.HardwareType) bool { return hw.Name == name })
	if i < 0 {
		return node.HardwareType{}, nodeapi.NewFault(http.StatusNotFound,
			"Could not find the following driver(s) or hardware type(s): %s.", name)
	}
	return all[i], nil
}
