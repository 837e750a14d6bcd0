package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// confirmResource takes people's word for the power of machines without a BMC.
type confirmResource struct{ access }

func (h *confirmResource) routes() []rest.Route {
	return []rest.Route{{Method: http.MethodPut, Path: "/ferrite/v1/nodes/:node/power",
		Doc: "confirm that the machine of a node without a BMC is on or off, as was asked", Handle: h.confirm,
		Wire: rest.Accepts(http.StatusNoContent, rest.FormOf(nodeapi.ConfirmedPower{}))}}
}

func (h *confirmResource) confirm(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	text, _, err := c.Need(nodeapi.BodyLimit, "confirmed")
	if err != nil {
		return err
	}
	state := node.PowerState(text)
	if state != node.PowerOn && state != node.PowerOff {
		return rest.BadRequest("confirmed is %q: expected %q or %q", text, node.PowerOn, node.PowerOff)
	}
	if err := h.conductor.ConfirmPower(c.Request().Context(), n.UUID, state); err != nil {
		return err
	}
	return c.Empty(http.StatusNoContent)
}
