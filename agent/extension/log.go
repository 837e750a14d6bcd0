package extension

import (
	"context"
	"encoding/json"

	"github.com/ferrite-metal/ferrite/agent/command"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// log returns the logs that show why something failed.
func (h *Host) log() command.Extension {
	return command.Extension{
		"collect_system_logs": {Run: func(context.Context, json.RawMessage) (any, error) {
			b, err := h.Logs()
			if err != nil {
				return nil, err
			}
			return agentapi.SystemLogs{SystemLogs: b}, nil
		}},
	}
}
