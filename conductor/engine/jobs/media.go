package jobs

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

func (j *job) attachMedium(ctx context.Context, r plan.AttachRequest) (any, error) {
	bmc, err := core.Extension[core.MediaLoader](j.n, j.bmc, "management", "attach_virtual_media")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, stepCall) // some BMCs answer only when they have the image
	defer cancel()
	return plan.ChoreDone{}, bmc.AttachMedium(ctx, j.n, r.Medium)
}

func (j *job) detachMedia(ctx context.Context, r plan.DetachRequest) (any, error) {
	bmc, err := core.Extension[core.MediaLoader](j.n, j.bmc, "management", "detach_virtual_media")
	if err != nil {
		return nil, err
	}
	return plan.ChoreDone{}, j.callBMC(ctx, func(ctx context.Context) error {
		return bmc.DetachMedia(ctx, j.n, r.Devices)
	})
}
