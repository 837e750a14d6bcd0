package jobs

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// readHardware asks the BMC for its hardware report. If it does not answer, the last report stays and nothing fails.
func (j *job) readHardware(ctx context.Context) (any, error) {
	reporter, ok := j.bmc.(core.HardwareReporter)
	if !ok {
		return node.HardwareReport{}, nil
	}
	call, cancel := context.WithTimeout(ctx, stepCall)
	defer cancel()
	report, err := reporter.ReportHardware(call, j.n)
	if ctx.Err() != nil {
		return nil, ctx.Err() // the end of the conductor: asked again by the next
	}
	if err != nil {
		j.Log.Warn("BIOS settings and firmware not read; the last reading stays", "node", j.n.UUID, "err", err)
		return node.HardwareReport{}, nil
	}
	return report, nil
}
