package api

import (
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// stateResource is the states of a node, and the verbs that change them.
type stateResource struct {
	access
	nodes *rest.Table[node.Node]
}

// routes shows the states of a node, and takes requests to change them.
func (h *stateResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: "/v1/nodes/:node/states", Doc: "power and provision state", Handle: h.showStates,
			Wire: rest.Returns(h.nodes.Part("states", stateFields()...))},
		{Method: http.MethodPut, Path: "/v1/nodes/:node/states/provision", Doc: "ask for a verb", Handle: h.provision,
			Forcible: "verbs that delete or wipe the machine of a host (BareMetalHost)",
			Wire:     rest.Accepts(http.StatusAccepted, provisionForm())},
		{Method: http.MethodPut, Path: "/v1/nodes/:node/states/power", Doc: "change power", Handle: h.setPower,
			Wire: rest.Accepts(http.StatusAccepted, powerForm())},
		{Method: http.MethodPut, Path: "/v1/nodes/:node/maintenance", Doc: "take a node out of service",
			Handle: h.setMaintenance,
			Wire: rest.Accepts(http.StatusAccepted,
				rest.Schema{"type": "object", "properties": rest.Schema{"reason": rest.TextForm(rest.MaxText)}})},
		{Method: http.MethodDelete, Path: "/v1/nodes/:node/maintenance", Doc: "put a node back into service",
			Handle: h.clearMaintenance, Wire: rest.Accepts(http.StatusAccepted, nil)},
		{Method: http.MethodGet, Path: "/v1/nodes/:node/maintenance", Doc: "refused: it is a field of the node",
			Handle: writeOnly},
		{Method: http.MethodGet, Path: "/v1/nodes/:node/states/provision", Doc: "refused: it is a field of the states",
			Handle: writeOnly},
		{Method: http.MethodGet, Path: "/v1/nodes/:node/states/power", Doc: "refused: it is a field of the states",
			Handle: writeOnly},
	}
}

// writeOnly refuses to read a path that can only be written to.
func writeOnly(*rest.Call) error { return nodeapi.Routing(http.StatusMethodNotAllowed, "") }

func (h *stateResource) showStates(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	v := rest.View[node.Node]{Of: &n, Minor: c.Minor, Caller: c.Caller}
	return h.Buffer(c, http.StatusOK, func(dst []byte) []byte {
		return h.nodes.Render(dst, h.nodes.Pick(c.Minor, stateFields()...), &v)
	})
}

// powerTargets is each target with the microversion it came with.
func powerTargets() map[node.PowerState]int {
	return map[node.PowerState]int{
		node.PowerOn:       1,
		node.PowerOff:      1,
		node.Rebooting:     1,
		node.SoftRebooting: 27,
		node.SoftPowerOff:  27,
	}
}

func (h *stateResource) setPower(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	target, args, err := c.Need(nodeapi.BodyLimit, "target", "timeout")
	if err != nil {
		return err
	}
	since, known := powerTargets()[node.PowerState(target)]
	timeout, timed, err := args.Whole("timeout")
	switch {
	case err != nil:
		return err
	case known && since > c.Minor, timed && c.Minor < 27:
		return rest.NotAcceptable()
	case timed && timeout <= 0:
		return rest.BadRequest("timeout has to be positive integer")
	case !known:
		return rest.BadRequest(`The requested action %q can not be performed on node %q while it is in state %q.`,
			spelt(args["target"]), n.UUID, n.PowerState)
	}
	// Longer than a year is a mistake, and overflows a duration in the end.
	wait := time.Duration(min(timeout, 365*24*3600)) * time.Second
	if err := h.conductor.SetPower(c.Request().Context(), n.UUID, node.PowerState(target), wait); err != nil {
		return err
	}
	return c.Accepted("/v1/nodes/" + c.Param("node") + "/states")
}

// spelt is text as Ironic's errors show it: null is None.
func spelt(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return rest.Python(v)
}

func (h *stateResource) setMaintenance(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	args, err := c.Args(nodeapi.BodyLimit, "reason")
	if err != nil {
		return err
	}
	reason, err := args.Text("reason")
	if err != nil {
		return err
	}
	if err := h.conductor.SetMaintenance(c.Request().Context(), n.UUID, true, reason); err != nil {
		return err
	}
	return c.Empty(http.StatusAccepted)
}

func (h *stateResource) clearMaintenance(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	if err := h.conductor.SetMaintenance(c.Request().Context(), n.UUID, false, ""); err != nil {
		return err
	}
	return c.Empty(http.StatusAccepted)
}
