package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// conductorRoutes is the conductors: this one.
func (a *API) conductorRoutes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: "/v1/conductors", Since: 49, Doc: "the conductors", Handle: a.listConductors, Wire: rest.Returns(rest.PageForm("conductors", conductorForm()), rest.PageArgs()...)},
		{Method: http.MethodGet, Path: "/v1/conductors/:host", Since: 49, Doc: "one conductor", Handle: a.showConductor, Wire: rest.Returns(conductorForm(), "fields")},
	}
}

func (a *API) conductorView(c *rest.Call, detail bool) map[string]any {
	v := map[string]any{
		"hostname": a.conductor.ConductorName(), "conductor_group": "", "alive": true,
		"links": c.Links("conductors/" + a.conductor.ConductorName()),
	}
	if detail {
		drivers := []string{}
		for _, hw := range a.conductor.HardwareTypes() {
			drivers = append(drivers, hw.Name)
		}
		v["drivers"] = drivers
		const form = "2006-01-02T15:04:05.000000+00:00"
		v["created_at"] = a.started.UTC().Format(form)
		v["updated_at"] = time.Now().UTC().Format(form) // in Ironic its last sign of life, which this answer is
	}
	return v
}

func (a *API) listConductors(c *rest.Call) error {
	if err := rest.Unexpected(rest.SortedKeys(c.QueryParams()), rest.PageArgs()); err != nil {
		return err
	}
	anyKey := func(int, string) (string, error) { return "", nil }
	p, err := c.PageAfterAny(anyKey, 49, 49)
	if err != nil {
		return err
	}
	view := a.conductorView(c, p.Detail || p.Fields != "")
	if p.Fields != "" {
		if view, err = pickKeys(view, p.Fields); err != nil {
			return err
		}
	}
	switch p.Marker { // which is a host here
	case "":
		return c.Marshal(http.StatusOK, map[string]any{"conductors": []any{view}})
	case a.conductor.ConductorName():
		return c.Marshal(http.StatusOK, map[string]any{"conductors": []any{}})
	}
	return noConductor(p.Marker)
}

func noConductor(host string) error {
	return nodeapi.NewFault(http.StatusNotFound, "Conductor %s could not be found.", host)
}

func (a *API) showConductor(c *rest.Call) error {
	host := c.Param("host")
	if host != a.conductor.ConductorName() {
		return noConductor(host)
	}
	v := a.conductorView(c, true)
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
