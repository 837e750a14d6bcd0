package api

import (
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// stateRoutes is what a node is doing and being told to do.
func (a *API) stateRoutes() []route {
	return []route{
		{method: http.MethodGet, path: "/v1/nodes/:node/states", doc: "power and provision state", handle: a.showStates, wire: gives(a.nodes.part("states", stateFields()...))},
		{method: http.MethodPut, path: "/v1/nodes/:node/states/provision", doc: "ask for a verb", handle: a.provision, wire: takes(http.StatusAccepted, provisionForm())},
		{method: http.MethodPut, path: "/v1/nodes/:node/states/power", doc: "change power", handle: a.setPower, wire: takes(http.StatusAccepted, powerForm())},
		{method: http.MethodPut, path: "/v1/nodes/:node/maintenance", doc: "take a node out of service", handle: a.setMaintenance, wire: takes(http.StatusAccepted, schema{"type": "object", "properties": schema{"reason": textForm(maxText)}})},
		{method: http.MethodDelete, path: "/v1/nodes/:node/maintenance", doc: "put a node back into service", handle: a.clearMaintenance, wire: takes(http.StatusAccepted, nil)},
		{method: http.MethodGet, path: "/v1/nodes/:node/maintenance", doc: "refused: it is a field of the node", handle: writeOnly},
		{method: http.MethodGet, path: "/v1/nodes/:node/states/provision", doc: "refused: it is a field of the states", handle: writeOnly},
		{method: http.MethodGet, path: "/v1/nodes/:node/states/power", doc: "refused: it is a field of the states", handle: writeOnly},
	}
}

// writeOnly is for paths that can be written to and not read.
func writeOnly(*call) error { return nodeapi.Routing(http.StatusMethodNotAllowed, "") }

func (a *API) showStates(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	v := view[node.Node]{of: &n, minor: c.minor, caller: c.caller}
	return a.buffer(c, http.StatusOK, func(dst []byte) []byte {
		return a.nodes.render(dst, a.nodes.pick(c.minor, stateFields()...), &v)
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

func (a *API) setPower(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	args, err := c.args(nodeapi.BodyLimit, "target", "timeout")
	if err != nil {
		return err
	}
	target, err := args.need("target")
	if err != nil {
		return err
	}
	since, known := powerTargets()[node.PowerState(target)]
	timeout, timed, err := args.whole("timeout")
	switch {
	case err != nil:
		return err
	case known && since > c.minor, timed && c.minor < 27:
		return notAcceptable()
	case timed && timeout <= 0:
		return badRequest("timeout has to be positive integer")
	case !known:
		return badRequest(`The requested action %q can not be performed on node %q while it is in state %q.`, spelt(args["target"]), n.UUID, n.PowerState)
	}
	// Longer than a year is a mistake, and overflows a duration in the end.
	wait := time.Duration(min(timeout, 365*24*3600)) * time.Second
	if err := a.conductor.SetPower(c.Request().Context(), n.UUID, node.PowerState(target), wait); err != nil {
		return err
	}
	return c.accepted("/v1/nodes/" + c.Param("node") + "/states")
}

// spelt is text as Ironic's errors show it: null is None.
func spelt(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return python(v)
}

func (a *API) setMaintenance(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	args, err := c.args(nodeapi.BodyLimit, "reason")
	if err != nil {
		return err
	}
	reason, err := args.text("reason")
	if err != nil {
		return err
	}
	if err := a.conductor.SetMaintenance(c.Request().Context(), n.UUID, true, reason); err != nil {
		return err
	}
	return c.empty(http.StatusAccepted)
}

func (a *API) clearMaintenance(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	if err := a.conductor.SetMaintenance(c.Request().Context(), n.UUID, false, ""); err != nil {
		return err
	}
	return c.empty(http.StatusAccepted)
}
