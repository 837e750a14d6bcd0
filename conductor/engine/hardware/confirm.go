package hardware

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// ConfirmPower accepts a person's statement that the machine of a node without a BMC is on or off, as they were asked.
// It returns a *node.Refusal if nothing or another state is awaited, and for a node with a BMC that reports the power.
func (e *Hardware) ConfirmPower(ctx context.Context, ref string, state node.PowerState) error {
	n, bmc, err := e.driver(ctx, ref)
	if err != nil {
		return err
	}
	hand, ok := bmc.(core.ByHand)
	if !ok {
		return node.Refuse(node.Invalid,
			"node %s has hardware type %q, whose BMC reports the power: no person needs to confirm "+
				"it. Only nodes of the hardware type manual-management are switched by hand.", n.UUID, n.Driver)
	}
	if err := hand.Confirm(n, state); err != nil {
		return err
	}
	e.Log.Info("the power of the machine was confirmed by hand", "node", n.UUID, "power", state)
	return nil
}
