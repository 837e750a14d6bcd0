package hardware

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// SetTargetRAIDConfig keeps what the next RAID step is to make; an empty
// configuration is none. Whether it has the right form is for the caller to
// check, whether the machine can have it shows the step.
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
