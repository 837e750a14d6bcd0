package extension

import (
	"context"
	"encoding/json"

	"github.com/ferrite-metal/ferrite/agent/command"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// image makes the installed system bootable.
func (h *Host) image() command.Extension {
	return command.Extension{
		"install_bootloader": {Async: true, Run: func(ctx context.Context, params json.RawMessage) (any, error) {
			p, err := read[agentapi.BootloaderParams](params)
			if err != nil {
				return nil, err
			}
			return nil, h.Machine.InstallBootloader(ctx, h.getNode(), p)
		}},
	}
}
