package hardware

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// SetTargetRAIDConfig stores the configuration that the next RAID step makes; an empty configuration is none. The
// caller checks its form. The step shows whether the machine can have it.
func (e *Hardware) SetTargetRAIDConfig(ctx context.Context, ref string, config map[string]any) error {
	_, err := e.Edit(ctx, ref, func(n *node.Node) error {
		if len(config) > 0 && n.Off("raid") {
			return node.Refuse(node.NotFound, "Driver %s does not support raid (disabled or not implemented).", n.Driver)
		}
		n.TargetRAIDConfig = config
		return nil
	})
	return err
}
