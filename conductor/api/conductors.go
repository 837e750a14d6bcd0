package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// conductorRoutes is the conductors: this one.
func (a *API) conductorRoutes() []route {
	return []route{
		{method: http.MethodGet, path: "/v1/conductors", since: 49, doc: "the conductors", handle: a.listConductors, wire: gives(pageForm("conductors", conductorForm()), pageArgs()...)},
		{method: http.MethodGet, path: "/v1/conductors/:host", since: 49, doc: "one conductor", handle: a.showConductor, wire: gives(conductorForm(), "fields")},
	}
}

func (a *API) conductorView(c *call, detail bool) map[string]any {
	v := map[string]any{
		"hostname": a.conductor.ConductorName(), "conductor_group": "", "alive": true,
		"links": c.links("conductors/" + a.conductor.ConductorName()),
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

func (a *API) listConductors(c *call) error {
	if err := unexpected(sortedKeys(c.QueryParams()), pageArgs()); err != nil {
		return err
	}
	anyKey := func(int, string) (string, error) { return "", nil }
	p, err := c.pageAfterAny(anyKey, 49, 49)
	if err != nil {
		return err
	}
	view := a.conductorView(c, p.detail || p.fields != "")
	if p.fields != "" {
		if view, err = pickKeys(view, p.fields); err != nil {
			return err
		}
	}
	switch p.marker { // which is a host here
	case "":
		return c.marshal(http.StatusOK, map[string]any{"conductors": []any{view}})
	case a.conductor.ConductorName():
		return c.marshal(http.StatusOK, map[string]any{"conductors": []any{}})
	}
	return noConductor(p.marker)
}

func noConductor(host string) error {
	return nodeapi.NewFault(http.StatusNotFound, "Conductor %s could not be found.", host)
}

func (a *API) showConductor(c *call) error {
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
	return c.marshal(http.StatusOK, v)
}

// pickKeys keeps the keys that fields names, and links.
func pickKeys(v map[string]any, fields string) (map[string]any, error) {
	picked := map[string]any{"links": v["links"]}
	for name := range strings.SplitSeq(fields, ",") {
		value, ok := v[name]
		if !ok {
			return nil, badRequest("Field(s) %q are not valid", name)
		}
		picked[name] = value
	}
	return picked, nil
}
