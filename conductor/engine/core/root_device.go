package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/rootdevice"
)

// RootDevice is which disk of a node would be installed onto.
type RootDevice struct {
	Node     string // UUID
	Hints    rootdevice.Hints
	Disk     string // name of the chosen disk; "" for none
	Refusal  string // why no disk was chosen
	Verdicts []rootdevice.Verdict
}

// RootDevice reports the disk of the last inspection that would be chosen, and why the others would not. It uses these
// hints or, if they are nil, the node's. Nothing is changed.
func (e *Core) RootDevice(ctx context.Context, ref string, hints map[string]any) (RootDevice, error) {
	n, err := e.Node(ctx, ref)
	if err != nil {
		return RootDevice{}, err
	}
	wish, err := rootdevice.WishOf(hints, n.InstanceInfo, n.Properties)
	if err != nil {
		return RootDevice{}, node.Refuse(node.Invalid, "node %s: %v", n.UUID, err)
	}
	disks, left, err := e.disksOf(ctx, n)
	if err != nil {
		return RootDevice{}, err
	}
	r := RootDevice{Node: n.UUID, Hints: wish.Hints}
	taken, verdicts, err := rootdevice.Choose(disks, left, wish)
	r.Disk, r.Verdicts = taken.Name, verdicts
	if err != nil {
		r.Refusal = err.Error()
	}
	return r, nil
}

// disksOf returns the disks of the last inspection, and the block devices that it skipped.
func (e *Core) disksOf(ctx context.Context, n node.Node) ([]agentapi.Disk, []agentapi.SkippedDisk, error) {
	found, err := e.Store.Inspected(ctx, n.UUID)
	if errors.Is(err, node.ErrNotFound) {
		return nil, nil, node.Refuse(node.Conflict,
			"Node %s was never inspected, so its disks are not known: ask for the verb inspect first.", n.UUID)
	}
	if err != nil {
		return nil, nil, err
	}
	var inventory struct {
		Disks []agentapi.Disk `json:"disks"`
	}
	var plugin map[string]json.RawMessage
	var left []agentapi.SkippedDisk
	if _, err := agentapi.Decode(found.Inventory, &inventory); err != nil {
		return nil, nil, fmt.Errorf("inventory of node %s: %w", n.UUID, err)
	}
	if json.Unmarshal(found.PluginData, &plugin) == nil && plugin[plan.SkippedDisks] != nil {
		if err := json.Unmarshal(plugin[plan.SkippedDisks], &left); err != nil {
			return nil, nil, fmt.Errorf("%s of node %s: %w", plan.SkippedDisks, n.UUID, err)
		}
	}
	if len(inventory.Disks) == 0 && n.Interfaces["inspect"] != "agent" {
		return nil, nil, node.Refuse(node.Conflict,
			"The inspection of node %s found no disks: set its inspect_interface to agent, and inspect it again.", n.UUID)
	}
	return inventory.Disks, left, nil
}
