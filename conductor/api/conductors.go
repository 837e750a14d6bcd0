package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// conductorResource is the conductors, of which there is one.
type conductorResource struct {
	access
	conductor conductorConductor
	started   time.Time
}

// conductorConductor is the part of the conductor that conductorResource needs.
type conductorConductor interface {
	// ConductorName is the name of this conductor.
	ConductorName() string
	// HardwareTypes are those that are enabled.
	HardwareTypes() []node.HardwareType
}

// routes is the conductors: this one.
func (h *conductorResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: "/v1/conductors", Since: 49, Doc: "the conductors", Handle: h.listConductors,
			Wire: rest.Returns(rest.PageForm("conductors", conductorForm()), rest.PageArgs()...)},
		{Method: http.MethodGet, Path: "/v1/conductors/:host", Since: 49, Doc: "one conductor", Handle: h.showConductor,
			Wire: rest.Returns(conductorForm(), "fields")},
	}
}

func (h *conductorResource) conductorView(c *rest.Call, detail bool) map[string]any {
	v := map[string]any{
		"hostname": h.conductor.ConductorName(), "conductor_group": "", "alive": true,
		"links": c.Links("conductors/" + h.conductor.ConductorName()),
	}
	if detail {
		drivers := []string{}
		for _, hw := range h.conductor.HardwareTypes() {
			drivers = append(drivers, hw.Name)
		}
		v["drivers"] = drivers
		const form = "2006-01-02T15:04:05.000000+00:00"
		v["created_at"] = h.started.UTC().Format(form)
		v["updated_at"] = time.Now().UTC().Format(form) // in Ironic its last sign of life, which this answer is
	}
	return v
}

func (h *conductorResource) listConductors(c *rest.Call) error {
	if err := rest.Unexpected(rest.SortedKeys(c.QueryParams()), rest.PageArgs()); err != nil {
		return err
	}
	anyKey := func(int, string) (string, error) { return "", nil }
	p, err := c.PageAfterAny(anyKey, 49, 49)
	if err != nil {
		return err
	}
	view := h.conductorView(c, p.Detail || p.Fields != "")
	if p.Fields != "" {
		if view, err = pickKeys(view, p.Fields); err != nil {
			return err
		}
	}
	switch p.Marker { // which is a host here
	case "":
		return c.Marshal(http.StatusOK, map[string]any{"conductors": []any{view}})
	case h.conductor.ConductorName():
		return c.Marshal(http.StatusOK, map[string]any{"conductors": []any{}})
	}
	return noConductor(p.Marker)
}

func noConductor(host string) error {
	return nodeapi.NewFault(http.StatusNotFound, "Conductor %s could not be found.", host)
}

func (h *conductorResource) showConductor(c *rest.Call) error {
	host := c.Param("host")
	if host != h.conductor.ConductorName() {
		return noConductor(host)
	}
	v := h.conductorView(c, true)
	if fields := c.QueryParam("fields"); fields != "" {
		var err error
		if v, err = pickKeys(v, fields); err != nil {
			return err
		}
	}
	return c.Marshal(http.StatusOK, v)
}

// pickKeys keeps the keys that fields names, and links.
func pickKeys(v map[string]any, fields string) (map[string]any, error) {
	picked := map[string]any{"links": v["links"]}
	for name := range strings.SplitSeq(fields, ",") {
		value, ok := v[name]
		if !ok {
			return nil, rest.BadRequest("Field(s) %q are not valid", name)
		}
		picked[name] = value
	}
	return picked, nil
}
