package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// indicatorResource is the indicators of a node.
type indicatorResource struct{ access }

// routes is the lights of a machine. An indicator is called
// name@component; the path that Ironic documents, component/name, is taken too,
// where Ironic itself answers 500.
func (h *indicatorResource) routes() []rest.Route {
	const all = "/v1/nodes/:node/management/indicators"
	return []rest.Route{
		{Method: http.MethodGet, Path: all, Since: 63, Doc: "the lights of the machine", Handle: h.listIndicators,
			Wire: rest.Returns(indicatorsForm())},
		{Method: http.MethodGet, Path: all + "/:indicator", Since: 63, Doc: "the state of a light", Handle: h.showIndicator,
			Wire: rest.Returns(indicatorStateForm())},
		{Method: http.MethodPut, Path: all + "/:indicator", Since: 63, Doc: "make a light show something",
			Handle: h.setIndicator, Wire: rest.Accepts(http.StatusNoContent, indicatorStateForm())},
		{Method: http.MethodGet, Path: all + "/:component/:indicator", Since: 63, Doc: "the state of a light",
			Handle: h.showIndicator, Wire: rest.Returns(indicatorStateForm())},
		{Method: http.MethodPut, Path: all + "/:component/:indicator", Since: 63, Doc: "make a light show something",
			Handle: h.setIndicator, Wire: rest.Accepts(http.StatusNoContent, indicatorStateForm())},
	}
}

func (h *indicatorResource) listIndicators(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	found, err := h.conductor.Indicators(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	list := []map[string]any{}
	for _, i := range found {
		id := i.Name + "@" + i.Component
		list = append(list, map[string]any{
			"name": id, "component": i.Component, "readonly": i.ReadOnly, "states": i.States,
			"links": c.Links("nodes/" + c.Param("node") + "/management/indicators/" + id),
		})
	}
	return c.Marshal(http.StatusOK, map[string]any{"indicators": list})
}

// indicatorOf is the component and the name of the light that a path is about.
func indicatorOf(c *rest.Call) (component, name string, err error) {
	id := c.Param("indicator")
	if component = c.Param("component"); component != "" {
		return component, id, nil
	}
	name, component, ok := strings.Cut(id, "@")
	if !ok {
		return "", "", rest.BadRequest("Malformed indicator name %q", id)
	}
	return component, name, nil
}

func (h *indicatorResource) showIndicator(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	component, name, err := indicatorOf(c)
	if err != nil {
		return err
	}
	state, err := h.conductor.IndicatorState(c.Request().Context(), n.UUID, component, name)
	if err != nil {
		return err
	}
	return c.Marshal(http.StatusOK, map[string]string{"state": state})
}

// indicatorStates are the states that a light can be set to.
func indicatorStates() []string {
	return []string{node.IndicatorOn, node.IndicatorOff, node.IndicatorBlinking}
}

func (h *indicatorResource) setIndicator(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	component, name, err := indicatorOf(c)
	if err != nil {
		return err
	}
	state, _, err := c.Need(nodeapi.BodyLimit, "state")
	if err != nil {
		return err
	}
	if !slices.Contains(indicatorStates(), state) {
		return rest.BadRequest("Invalid indicator state %q: it is one of %s", state, strings.Join(indicatorStates(), ", "))
	}
	return c.Done(h.conductor.SetIndicatorState(c.Request().Context(), n.UUID, component, name, state))
}
