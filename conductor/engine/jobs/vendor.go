package jobs

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// callVendor does a vendor method that nobody waits for, once: who knows what
// it does when it is done twice.
func (j *job) callVendor(ctx context.Context) (any, error) {
	var r plan.VendorRequest
	if err := j.args(&r); err != nil {
		return nil, err
	}
	if j.effect.Attempt > 1 {
		return nil, node.Refuse(node.Conflict,
			"a conductor ended in the middle of it, so it is not known whether it was done: look, and call it again "+
				"if it was not")
	}
	vendor, err := core.Extension[core.Vendor](j.n, j.bmc, "vendor", "vendor")
	if err != nil {
		return nil, err
	}
	return plan.ChoreDone{}, j.callBMC(ctx, func(ctx context.Context) error {
		_, err := vendor.CallVendor(ctx, j.n, r.Method, r.Args)
		return err
	})
}
