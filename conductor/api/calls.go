package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Calls remembers the latest requests to machines.
type Calls interface {
	Calls(uuid string) []nodeapi.Call
}

// callResource is the latest requests to a machine's BMC and agent.
type callResource struct {
	access
	calls Calls // nil where none are remembered
}

func (h *callResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: nodeapi.FerriteRoot + "/nodes/:node/calls",
			Doc: "the latest requests to a machine's BMC and agent since the conductor started, the oldest first; without " +
				"the bodies of requests and answers",
			Handle: h.list, Wire: rest.Returns(rest.FormOf(nodeapi.Calls{}))},
	}
}

func (h *callResource) list(c *rest.Call) error {
	if err := rest.Unexpected(rest.SortedKeys(c.QueryParams()), nil); err != nil {
		return err
	}
	n, err := h.node(c)
	if err != nil {
		return err
	}
	answer := nodeapi.Calls{Node: n.UUID, Calls: []nodeapi.Call{}}
	if h.calls != nil {
		answer.Calls = append(answer.Calls, h.calls.Calls(n.UUID)...)
	}
	return c.Marshal(http.StatusOK, answer)
}
