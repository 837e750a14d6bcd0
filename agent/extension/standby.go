package extension

import (
	"context"
	"encoding/json"

	"github.com/ferrite-metal/ferrite/agent/command"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// standby writes images outside of steps and ends this boot. run_image is
// ironic-python-agent's word for a reboot.
func (h *Host) standby() command.Extension {
	return command.Extension{
		"prepare_image": {Async: true, Run: func(ctx context.Context, params json.RawMessage) (any, error) {
			p, err := read[agentapi.PrepareImageParams](params)
			if err != nil {
				return nil, err
			}
			return h.Machine.PrepareImage(ctx, h.currentNode(ctx), p)
		}},
		"get_partition_uuids": {Run: func(context.Context, json.RawMessage) (any, error) {
			return h.Machine.PartitionUUIDs(), nil
		}},
		"sync": {Run: func(context.Context, json.RawMessage) (any, error) {
			h.Power.Sync()
			return nil, nil
		}},
		"run_image": ending(h.Power.Reboot),
		"power_off": ending(h.Power.PowerOff),
		"kexec":     h.kexec(),
	}
}

// currentNode is the node as the conductor has it now, or, when it cannot be
// asked, as it was last seen.
func (h *Host) currentNode(ctx context.Context) agentapi.CommandNode {
	n, err := h.Refresh(ctx)
	if err != nil {
		h.Machine.Log.Warn("node not looked up again; the known data is used", "err", err)
		return h.getNode()
	}
	h.SetNode(NodeOf(n))
	return h.getNode()
}
