package jobs

import (
	"context"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// stepCall bounds one call of a driver's step. A longer step returns a task, and is polled.
const stepCall = 2 * time.Minute

// driverStep gives the driver a step, or asks it after one.
func (j *job) driverStep(ctx context.Context, a plan.DriverArgs) (any, error) {
	stepper, ok := j.bmc.(core.Stepper)
	if !ok {
		return nil, node.Refuse(node.Invalid, "hardware type %q has no step %s any more", j.n.Driver, a.Step)
	}
	ctx, cancel := context.WithTimeout(ctx, stepCall)
	defer cancel()
	return stepper.DoStep(ctx, j.n, a.Step, a.Task)
}
