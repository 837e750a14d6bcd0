package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// indicatorRoutes is the lights of a machine. An indicator is called
// name@component; the path that Ironic documents, component/name, is taken too,
// where Ironic itself answers 500.
func (a *API) indicatorRoutes() []route {
	const all = "/v1/nodes/:node/management/indicators"
	return []route{
		{method: http.MethodGet, path: all, since: 63, doc: "the lights of the machine", handle: a.listIndicators, wire: gives(indicatorsForm())},
		{method: http.MethodGet, path: all + "/:indicator", since: 63, doc: "what a light shows", handle: a.showIndicator, wire: gives(indicatorStateForm())},
		{method: http.MethodPut, path: all + "/:indicator", since: 63, doc: "make a light show something", handle: a.setIndicator, wire: takes(http.StatusNoContent, indicatorStateForm())},
		{method: http.MethodGet, path: all + "/:component/:indicator", since: 63, doc: "what a light shows", handle: a.showIndicator, wire: gives(indicatorStateForm())},
		{method: http.MethodPut, path: all + "/:component/:indicator", since: 63, doc: "make a light show something", handle: a.setIndicator, wire: takes(http.StatusNoContent, indicatorStateForm())},
	}
}

func (a *API) listIndicators(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	found, err := a.conductor.Indicators(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	list := []map[string]any{}
	for _, i := range found {
		id := i.Name + "@" + i.Component
		list = append(list, map[string]any{
			"name": id, "component": i.Component, "readonly": i.ReadOnly, "states": i.States,
			"links": c.links("nodes/" + c.Param("node") + "/management/indicators/" + id),
		})
	}
	return c.marshal(http.StatusOK, map[string]any{"indicators": list})
}

// indicatorOf is the component and the name of the light that a path is about.
func indicatorOf(c *call) (component, name string, err error) {
	id := c.Param("indicator")
	if component = c.Param("component"); component != "" {
		return component, id, nil
	}
	name, component, ok := strings.Cut(id, "@")
	if !ok {
		return "", "", badRequest("Malformed indicator name %q", id)
	}
	return component, name, nil
}

func (a *API) showIndicator(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	component, name, err := indicatorOf(c)
	if err != nil {
		return err
	}
	state, err := a.conductor.IndicatorState(c.Request().Context(), n.UUID, component, name)
	if err != nil {
		return err
	}
	return c.marshal(http.StatusOK, map[string]string{"state": state})
}

// indicatorStates are what a light can be asked to show.
func indicatorStates() []string {
	return []string{node.IndicatorOn, node.IndicatorOff, node.IndicatorBlinking}
}

func (a *API) setIndicator(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	component, name, err := indicatorOf(c)
	if err != nil {
		return err
	}
	args, err := c.args(nodeapi.BodyLimit, "state")
	if err != nil {
		return err
	}
	state, err := args.need("state")
	if err != nil {
		return err
	}
	if !slices.Contains(indicatorStates(), state) {
		return badRequest("Invalid indicator state %q: it is one of %s", state, strings.Join(indicatorStates(), ", "))
	}
	return c.done(a.conductor.SetIndicatorState(c.Request().Context(), n.UUID, component, name, state))
}
