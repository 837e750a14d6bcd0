package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// statusResource serves the activity of nodes, with the events that they wait for.
type statusResource struct {
	access
	boot BootWatch // nil when no boot network is served
}

// routes serves the status of nodes and the OpenAPI document, which Ironic's API lacks.
func (h *statusResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: "/ferrite/v1/nodes/:node/status",
			Doc: "the work of a node, its progress, and the reason of a wait", Handle: h.showStatus,
			Wire: rest.Returns(rest.FormOf(nodeapi.Status{}))},
		{Method: http.MethodGet, Path: "/ferrite/v1/nodes/status",
			Doc: "the status of several nodes, as in nodes=web-1,web-2", Handle: h.showStatuses,
			Wire: rest.Returns(rest.FormOf(nodeapi.Statuses{}))},
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
	return c.Marshal(http.StatusOK, h.wire(s))
}

// wire is a status with the warnings about the network that its node waits for.
func (h *statusResource) wire(s engine.Status) nodeapi.Status {
	w := wireStatus(s)
	if h.boot == nil || s.WaitingSince.IsZero() || s.LastHeartbeat.After(s.Since) {
		return w
	}
	for _, other := range h.boot.Servers() {
		if !other.Expected && other.Last.After(s.Since) {
			w.Warnings = append(slices.Clone(w.Warnings), fmt.Sprintf("another DHCP server, %s, answers on the boot network, "+
				"last at %s: stop it, or start the conductor with --dhcp proxy or off; see ferrite boot watch", other.Address,
				other.Last.UTC().Format("15:04:05 MST")))
		}
	}
	return w
}

// showStatuses answers for the nodes that a client waits for in one request, so that it needs no connection for each.
func (h *statusResource) showStatuses(c *rest.Call) error {
	args, err := c.Args(nodeapi.BodyLimit, "nodes")
	if err != nil {
		return err
	}
	text, _ := args["nodes"].(string)
	names := strings.Split(text, ",")
	if text == "" || len(names) > nodeapi.MaxStatuses {
		return rest.BadRequest("Expected 1 to %d nodes, as in ?nodes=web-1,web-2; found %d", nodeapi.MaxStatuses,
			len(names))
	}
	reply := nodeapi.Statuses{Nodes: map[string]nodeapi.Status{}, Missing: []string{}}
	for _, name := range names {
		s, err := h.conductor.Status(c.Request().Context(), name)
		var n node.Node
		if err == nil {
			n, err = h.conductor.Node(c.Request().Context(), s.Node)
		}
		switch {
		case isNotFound(err) || err == nil && !h.shown(c, &n):
			reply.Missing = append(reply.Missing, name)
		case err != nil:
			return err
		default:
			reply.Nodes[name] = h.wire(s)
		}
	}
	return c.Marshal(http.StatusOK, reply)
}

// shown reports whether a caller may read the status of a node.
func (h *statusResource) shown(c *rest.Call, n *node.Node) bool {
	return c.Caller == nil || h.visible(c, n) &&
		h.Rules.Of(http.MethodGet, "/ferrite/v1/nodes/:node/status", "").Allows(c.Caller, n.Owner, n.Lessee)
}

// wireStatus is a status as the wire has it.
func wireStatus(s engine.Status) nodeapi.Status {
	w := nodeapi.Status{
		Node: s.Node, Name: s.Name, Power: string(s.Power), TargetPower: string(s.TargetPower), State: string(s.State),
		Target:      string(s.Target),
		Maintenance: s.Maintenance, MaintenanceReason: s.Reason, Fault: s.Fault,
		Activity: s.Activity, Step: s.Step, Steps: s.Steps, Index: s.Index,
		WaitingFor: s.WaitingFor, Since: s.Since, WaitingSince: s.WaitingSince, Until: s.Until,
		Warnings: s.Warnings, LastHeartbeat: s.LastHeartbeat, PowerReadAt: s.PowerReadAt, LastError: s.LastError, Try: s.Try,
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
