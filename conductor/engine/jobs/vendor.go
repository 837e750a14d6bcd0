package jobs

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// callVendor calls a vendor method in the background: no client waits for it.
func (j *job) callVendor(ctx context.Context, r plan.VendorRequest) (any, error) {
	vendor, err := core.Extension[core.Vendor](j.n, j.bmc, "vendor", "vendor")
	if err != nil {
		return nil, err
	}
	return plan.ChoreDone{}, j.callBMC(ctx, func(ctx context.Context) error {
		_, err := vendor.CallVendor(ctx, j.n, r.Method, r.Args)
		return err
	})
}
