package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// kexecLeaves is how long an agent that has loaded the installed system may take to leave
// the machine to it; kexecPoll is how often it is looked for. An agent is silent when
// kexecCalls calls in a row have had no answer within kexecCall.
const (
	kexecLeaves = 30 * time.Second
	kexecPoll   = 200 * time.Millisecond
	kexecCall   = 2 * time.Second
	kexecCalls  = 2
)

// kexec has the agent load the installed system and start it. That it was started is
// seen by the agent's silence: an agent that still answers has not left. After a crash
// of ours an agent that is silent may have left or not, which is an error: the firmware's
// way is right in both cases.
func (j *job) kexec(ctx context.Context, a agentapi.KexecParams) (any, error) {
	res, err := j.send(ctx, agentapi.KexecCommand, a, true)
	var unknown interface{ UnknownCommand() bool }
	switch {
	case errors.As(err, &unknown) && unknown.UnknownCommand():
		return nil, node.Refuse(node.Invalid, "the agent, version %s, knows no kexec: build the ramdisk anew",
			j.n.Agent.Version)
	case err != nil:
		return nil, fmt.Errorf("ask the agent for a kexec: %w", err)
	case res.Status != agentapi.Succeeded:
		return nil, node.Refuse(node.Invalid, "%s", errorText(res))
	}
	var k agentapi.Kexec
	if err := json.Unmarshal(res.Result, &k); err != nil {
		return nil, node.Refuse(node.Invalid, "the agent's answer to kexec cannot be read: %v", err)
	}
	j.leave()
	return k, j.agentLeft(ctx, res.ID)
}

// agentLeft waits until the agent is silent.
func (j *job) agentLeft(ctx context.Context, command string) error {
	end := j.Now().Add(kexecLeaves)
	for silent := 0; ; silent++ {
		call, cancel := context.WithTimeout(ctx, kexecCall)
		all, err := j.Agents.Commands(call, j.n)
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			silent = -1
		case silent+1 == kexecCalls:
			return nil
		}
		at := slices.IndexFunc(all, func(r agentapi.Result) bool { return r.ID == command })
		if at >= 0 && all[at].Status == agentapi.Failed {
			return node.Refuse(node.Invalid, "%s", errorText(all[at]))
		}
		if err == nil && j.Now().After(end) {
			return node.Refuse(node.Invalid, "the agent has loaded the installed system, but still answers after %s",
				kexecLeaves)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(kexecPoll):
		}
	}
}
