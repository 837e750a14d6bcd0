package hardware

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// ConfirmPower takes a person's word that the machine of a node without a BMC is on or off, as was
// asked of them. It is a
// *node.Refusal where nothing or another state is awaited, and for a node whose BMC reports the power.
func (e *Hardware) ConfirmPower(ctx context.Context, ref string, state node.PowerState) error {
	n, bmc, err := e.driver(ctx, ref)
	if err != nil {
		return err
	}
	hand, ok := bmc.(core.ByHand)
	if !ok {
		return node.Refuse(node.Invalid,
			"node %s has hardware type %q, whose BMC reports the power: nobody needs to confirm "+
				"it. Only nodes of the hardware type manual-management are switched by hand.", n.UUID, n.Driver)
	}
	if err := hand.Confirm(n, state); err != nil {
		return err
	}
	e.Log.Info("the power of the machine was confirmed by hand", "node", n.UUID, "power", state)
	return nil
}
