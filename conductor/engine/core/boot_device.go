package core

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// SetBootDevice sets a boot device. It reads a persistent one back, because some BMCs accept it for the next boot only
// and do not all report that.
func SetBootDevice(ctx context.Context, bmc BMC, n node.Node, a plan.BootDeviceArgs) (plan.BootDeviceSet, error) {
	set := plan.BootDeviceSet{Device: a.Device}
	if err := bmc.SetBootDevice(ctx, n, a.Device, a.Persistent); err != nil || !a.Persistent {
		return set, err
	}
	is, lasting, err := bmc.BootDevice(ctx, n)
	set.Once = err == nil && is == a.Device && !lasting
	return set, nil
}
