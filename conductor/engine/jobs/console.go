package jobs

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

func (j *job) changeConsole(ctx context.Context, r plan.ConsoleRequest) (any, error) {
	bmc, err := core.Extension[core.Consoles](j.n, j.bmc, "console", "console")
	if err != nil {
		return nil, err
	}
	return plan.ChoreDone{}, j.callBMC(ctx, func(ctx context.Context) error { return bmc.SetConsole(ctx, j.n, r.On) })
}
