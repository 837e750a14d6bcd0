package steps

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/agent/inventory"
	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// RootDisk chooses the disk a node is installed onto, which has to hold need
// bytes. It waits a while for one to turn up.
func (m *Machine) RootDisk(ctx context.Context, n agentapi.CommandNode, need int64) (agentapi.Disk, error) {
	hints, err := inventory.HintsFrom(n.InstanceInfo, n.Properties)
	if err != nil {
		return agentapi.Disk{}, err
	}
	patience := time.Duration(max(m.Wait.Attempts-1, 0)) * m.Wait.Delay
	deadline := time.Now().Add(patience)
	for first := true; ; first = false {
		d, err := m.chooseRoot(ctx, n, hints, need)
		if err == nil || !errors.Is(err, inventory.ErrNoDisk) || time.Now().After(deadline) {
			return d, err
		}
		if first {
			m.Log.Info("no disk to install onto yet", "err", err, "patience", patience)
		}
		if !sys.Sleep(ctx, diskPoll) {
			return d, fmt.Errorf("wait for a disk: %w; %w", ctx.Err(), err)
		}
	}
}

// diskPoll is how often disks are looked at while one is waited for.
const diskPoll = 200 * time.Millisecond

// chooseRoot takes the RAID volume meant to be the root before any disk, as
// ironic-python-agent does.
func (m *Machine) chooseRoot(ctx context.Context, n agentapi.CommandNode, hints inventory.Hints, need int64) (agentapi.Disk, error) {
	if d, ok, err := m.rootVolume(ctx, n, len(hints) > 0); ok || err != nil {
		return d, err
	}
	disks, skipped, err := m.allowedDisks(n)
	if err != nil {
		return agentapi.Disk{}, err
	}
	return inventory.RootDisk(disks, skipped, hints, need)
}

// allowedDisks are the disks without those the operator keeps for something
// else (properties.skip_block_devices, a list of hints).
func (m *Machine) allowedDisks(n agentapi.CommandNode) ([]agentapi.Disk, []inventory.Skipped, error) {
	all, skipped := m.Disks()
	keep, given := n.Properties["skip_block_devices"]
	if !given || keep == nil {
		return all, skipped, nil
	}
	list, ok := keep.([]any)
	if !ok {
		return nil, nil, fmt.Errorf("properties.skip_block_devices: expected a list of hints, found %v", keep)
	}
	allowed := []agentapi.Disk{}
	for _, d := range all {
		kept, err := matchesAny(list, d)
		if err != nil {
			return nil, nil, fmt.Errorf("properties.skip_block_devices: %w", err)
		}
		if kept {
			skipped = append(skipped, inventory.Skipped{Name: d.Name, Reason: "in skip_block_devices"})
			continue
		}
		allowed = append(allowed, d)
	}
	return allowed, skipped, nil
}

// matchesAny reports whether one of a list of hints matches a disk. A RAID
// volume (volume_name) is no disk of ours: arrays and their members are left
// out already.
func matchesAny(list []any, d agentapi.Disk) (bool, error) {
	for _, item := range list {
		hints, ok := item.(map[string]any)
		if !ok || len(hints) == 0 {
			return false, fmt.Errorf("expected an object of hints, found %v", item)
		}
		if _, volume := hints["volume_name"]; volume {
			continue
		}
		matches, err := inventory.Hints(hints).Match(d)
		if err != nil || matches {
			return matches, err
		}
	}
	return false, nil
}
