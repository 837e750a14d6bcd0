package extension

import (
	"context"
	"encoding/json"

	"github.com/ferrite-metal/ferrite/agent/command"
)

// poll shows the machine's inventory.
func (h *Host) poll() command.Extension {
	return command.Extension{
		"get_hardware_info": {Run: func(ctx context.Context, _ json.RawMessage) (any, error) {
			return h.Inventory(ctx), nil
		}},
	}
}
