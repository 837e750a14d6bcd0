package hardware

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// HardwareReport returns what the BMC has reported of BIOS settings and firmware when it was
// asked last.
func (e *Hardware) HardwareReport(ctx context.Context, ref string) (node.HardwareReport, error) {
	n, err := e.Node(ctx, ref)
	if err != nil {
		return node.HardwareReport{}, err
	}
	return e.Store.HardwareReport(ctx, n.UUID)
}
