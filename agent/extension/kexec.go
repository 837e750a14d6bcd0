package extension

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/ferrite-metal/ferrite/agent/command"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// kexec loads the kernel of the installed system, answers, and starts it. A kernel that
// does not start is unloaded: the next restart is to be the firmware's.
func (h *Host) kexec() command.Command {
	return command.Command{
		Run: func(ctx context.Context, params json.RawMessage) (any, error) {
			p, err := read[agentapi.KexecParams](params)
			if err != nil {
				return nil, err
			}
			return loaded(h.Machine.LoadInstalled(ctx, p))
		},
		After: func() error {
			time.Sleep(replyTime)
			err := h.Power.Kexec()
			if err == nil {
				err = errors.New("the kernel came back from starting another")
			}
			return agentapi.NewCommandError("KexecError", "The loaded kernel did not start",
				errors.Join(err, h.Power.UnloadKernel()).Error())
		},
	}
}

// loaded leaves the result out of a failure.
func loaded(k agentapi.Kexec, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return k, nil
}
