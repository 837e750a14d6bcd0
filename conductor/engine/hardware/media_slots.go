package hardware

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// MediaSlots asks the BMC for its virtual drives and their contents.
func (e *Hardware) MediaSlots(ctx context.Context, ref string) ([]node.MediaSlot, error) {
	n, driver, err := e.driver(ctx, ref)
	if err != nil {
		return nil, err
	}
	bmc, err := core.Extension[core.MediaLoader](n, driver, "management", "get_virtual_media")
	if err != nil {
		return nil, nil //nolint:nilerr // Ironic's answer: a driver without drives has none
	}
	if err := e.BMCs[n.Driver].Validate(n); err != nil {
		return nil, node.Refuse(node.Invalid, "%v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, e.Patience(n).Call)
	defer cancel()
	slots, err := bmc.MediaSlots(ctx, n)
	return slots, core.BmcFault(err)
}

// AttachMedium asks for an image in a virtual drive. It returns once the request
// is taken; a driver that has no virtual drives fails it in last_error, as all that
// goes wrong with media does in Ironic.
func (e *Hardware) AttachMedium(ctx context.Context, ref string, m node.Medium) error {
	return e.chore(ctx, ref, plan.AttachRequest{Medium: m})
}

// DetachMedia asks for the virtual drives of the kinds named to be emptied, all
// when none is named. It returns once the request is taken.
func (e *Hardware) DetachMedia(ctx context.Context, ref string, devices []string) error {
	return e.chore(ctx, ref, plan.DetachRequest{Devices: devices})
}
