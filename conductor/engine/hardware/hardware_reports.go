package hardware

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// HardwareReport returns the BMC's latest report of BIOS settings and firmware.
func (e *Hardware) HardwareReport(ctx context.Context, ref string) (node.HardwareReport, error) {
	n, err := e.Node(ctx, ref)
	if err != nil {
		return node.HardwareReport{}, err
	}
	return e.Store.HardwareReport(ctx, n.UUID)
}
