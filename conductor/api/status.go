package api

import (
	"context"
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// statusResource says what a node waits for.
type statusResource struct {
	access
	conductor statusConductor
}

// statusConductor is the part of the conductor that statusResource needs.
type statusConductor interface {
	Status(ctx context.Context, ref string) (engine.Status, error)
}

// routes is what Ironic's API has no word for.
func (h *statusResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: "/ferrite/v1/nodes/:node/status",
			Doc: "what a node is doing, what it waits for, how far it is", Handle: h.showStatus,
			Wire: rest.Returns(rest.FormOf(nodeapi.Status{}))},
		{Method: http.MethodGet, Path: "/ferrite/v1/openapi.json", Doc: "this document", Handle: h.ShowDocument,
			Wire: rest.Returns(rest.ObjectForm())},
	}
}

func (h *statusResource) showStatus(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	s, err := h.conductor.Status(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	return c.Marshal(http.StatusOK, wireStatus(s))
}

// wireStatus is a status as the wire has it.
func wireStatus(s engine.Status) nodeapi.Status {
	w := nodeapi.Status{
		Node: s.Node, Name: s.Name, Power: string(s.Power), State: string(s.State), Target: string(s.Target),
		Maintenance: s.Maintenance, MaintenanceReason: s.Reason, Fault: s.Fault,
		Activity: s.Activity, Step: s.Step, Steps: s.Steps, Index: s.Index,
		WaitingFor: s.WaitingFor, Since: s.Since, WaitingSince: s.WaitingSince, Until: s.Until,
		LastHeartbeat: s.LastHeartbeat, PowerReadAt: s.PowerReadAt, LastError: s.LastError, Try: s.Try,
	}
	for _, stage := range s.BootStages {
		w.BootStages = append(w.BootStages, nodeapi.Stage{Name: stage.Name, Detail: stage.Detail, At: stage.At})
	}
	if p := s.Progress; p != nil {
		w.Progress = &nodeapi.Progress{
			Step: p.Step, Stage: p.Stage, Done: p.Done, Total: p.Total,
			Rate: p.Rate, ETA: p.ETA.Seconds(), At: p.At,
		}
	}
	return w
}
