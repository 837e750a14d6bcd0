// Package extension holds a conductor's commands, one file per extension of ironic-python-agent's: it reads their
// parameters, calls the packages that do the work, and shapes the answers.
//
// It must not do the work itself.
package extension

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/agent/command"
	"github.com/ferrite-metal/ferrite/agent/rescue"
	"github.com/ferrite-metal/ferrite/agent/steps"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Power ends this boot.
type Power interface {
	Sync()
	PowerOff() error
	Reboot() error
	// Kexec starts the kernel that is loaded, and comes back only after a failure.
	Kexec() error
	// UnloadKernel forgets it.
	UnloadKernel() error
}

// Host is the machine that commands act on.
type Host struct {
	Machine   *steps.Machine
	Power     Power
	Inventory func(ctx context.Context) agentapi.Inventory
	Logs      func() (string, error) // base64 of a tar.gz
	// Refresh asks the conductor for the node again: the root device hints may have
	// changed since the agent started.
	Refresh func(ctx context.Context) (agentapi.LookupNode, error)
	// Rescue lets a user with the password log in, and ends the agent's service after
	// the answer.
	Rescue func(rescue.Password) error

	mu   sync.Mutex
	node agentapi.CommandNode
}

// All is every extension by name.
func (h *Host) All() map[string]command.Extension {
	return map[string]command.Extension{
		"clean":   h.clean(),
		"deploy":  h.deploy(),
		"service": h.service(),
		"standby": h.standby(),
		"image":   h.image(),
		"log":     h.log(),
		"poll":    h.poll(),
		"rescue":  h.rescue(),
	}
}

// SetNode keeps the node for commands that come without it. It ignores a node without data. A node without RAID
// settings, as from a lookup, keeps the settings of an earlier command.
func (h *Host) SetNode(n agentapi.CommandNode) {
	if n.UUID == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if n.RAIDConfig == nil && n.TargetRAIDConfig == nil && n.UUID == h.node.UUID {
		n.RAIDConfig, n.TargetRAIDConfig = h.node.RAIDConfig, h.node.TargetRAIDConfig
	}
	h.node = n
}

func (h *Host) getNode() agentapi.CommandNode {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.node
}

// NodeOf is a looked-up node as commands carry it.
func NodeOf(n agentapi.LookupNode) agentapi.CommandNode {
	return agentapi.CommandNode{UUID: n.UUID, Properties: n.Properties, InstanceInfo: n.InstanceInfo,
		DriverInternalInfo: n.DriverInternalInfo}
}

// read decodes a command's parameters. Unknown ones are passed over: newer
// conductors send more.
func read[T any](params json.RawMessage) (T, error) {
	var p T
	if err := json.Unmarshal(params, &p); err != nil {
		return p, command.InvalidParams(err)
	}
	return p, nil
}

// replyTime lets an answer reach the conductor before the machine is gone.
const replyTime = 250 * time.Millisecond

// ending runs end after the answer to its command is on its way.
func ending(end func() error) command.Command {
	return command.Command{Async: true, Run: func(ctx context.Context, _ json.RawMessage) (any, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(replyTime):
			return nil, end()
		}
	}}
}
