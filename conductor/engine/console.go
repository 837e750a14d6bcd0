package engine

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/plan"
)

func (j *job) changeConsole(ctx context.Context) (any, error) {
	var r plan.ConsoleRequest
	if err := j.args(&r); err != nil {
		return nil, err
	}
	bmc, err := extension[Consoles](j.n, j.bmc, "console", "console")
	if err != nil {
		return nil, err
	}
	return plan.ChoreDone{}, j.callBMC(ctx, func(ctx context.Context) error { return bmc.SetConsole(ctx, j.n, r.On) })
}
