package hardware

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// ChangeBootMode asks for a boot mode, uefi or bios. It returns once the
// request is taken.
func (e *Hardware) ChangeBootMode(ctx context.Context, ref, mode string) error {
	return e.chore(ctx, ref, plan.BootModeRequest{Mode: mode})
}

// ChangeSecureBoot asks for secure boot to be on or off. It returns once the
// request is taken.
func (e *Hardware) ChangeSecureBoot(ctx context.Context, ref string, on bool) error {
	return e.chore(ctx, ref, plan.SecureBootRequest{On: on})
}

// chore takes a request if the node's settings let its BMC be called at all.
func (e *Hardware) chore(ctx context.Context, ref string, c plan.Event) error {
	n, bmc, err := e.driver(ctx, ref)
	if err != nil {
		return err
	}
	if err := bmc.Validate(n); err != nil {
		return node.Refuse(node.Invalid, "%v", err)
	}
	_, err = e.Act(ctx, n.UUID, c)
	return err
}
