package extension

import (
	"context"
	"encoding/json"

	"github.com/ferrite-metal/ferrite/agent/command"
	"github.com/ferrite-metal/ferrite/agent/rescue"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// rescue lets the machine's owner log in. After its answer the agent accepts no more
// commands: the network may be the owner's by then.
func (h *Host) rescue() command.Extension {
	return command.Extension{
		"finalize_rescue": {Run: func(_ context.Context, params json.RawMessage) (any, error) {
			p, err := read[agentapi.RescueParams](params)
			if err != nil {
				return nil, err
			}
			password, err := rescue.NewPassword(p.RescuePassword, p.Hashed)
			if err != nil {
				return nil, command.InvalidParams(err)
			}
			return nil, h.Rescue(password)
		}},
	}
}
