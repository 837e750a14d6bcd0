package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// stepResource lists the steps of nodes.
type stepResource struct{ access }

// routes serves the steps of a node, which Ironic's API does not list.
func (h *stepResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: nodeapi.FerriteRoot + "/nodes/:node/steps",
			Doc: "the steps a node has, with arguments and priorities, by conductor, BMC driver and agent", Handle: h.list,
			Wire: rest.Returns(rest.FormOf(nodeapi.NodeSteps{}))},
	}
}

func (h *stepResource) list(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	t, err := h.conductor.Steps(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	return c.Marshal(http.StatusOK, wireSteps(n.UUID, t))
}

// wireSteps is a table of steps as the wire has it.
func wireSteps(uuid string, t plan.StepTable) nodeapi.NodeSteps {
	w := nodeapi.NodeSteps{Node: uuid, Steps: make([]nodeapi.NodeStep, len(t.Steps)), AgentListed: byName(t.Listed),
		Open: byName(t.Open)}
	for i, s := range t.Steps {
		args := map[string]nodeapi.StepArg{}
		for name, a := range s.Args {
			args[name] = nodeapi.StepArg{Description: a.Description, Required: a.Required}
		}
		w.Steps[i] = nodeapi.NodeStep{Interface: s.Interface, Step: s.Step, Source: string(s.Source),
			Priorities: byName(s.Priority), Args: args, Abortable: s.Abortable}
	}
	return w
}

// byName is a map with the names of its keys, never null.
func byName[K ~string, V any](m map[K]V) map[string]V {
	out := map[string]V{}
	for k, v := range m {
		out[string(k)] = v
	}
	return out
}
