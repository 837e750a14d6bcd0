package steps

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/rootdevice"
)

// RootDisk chooses the disk a node is installed onto, which has to hold need
// bytes. It waits a while for one to turn up.
func (m *Machine) RootDisk(ctx context.Context, n agentapi.CommandNode, need int64) (agentapi.Disk, error) {
	wish, err := rootdevice.WishOf(nil, n.InstanceInfo, n.Properties)
	if err != nil {
		return agentapi.Disk{}, err
	}
	wish.Need = need
	patience := m.Wait.patience()
	deadline := time.Now().Add(patience)
	for first := true; ; first = false {
		d, err := m.chooseRoot(ctx, n, wish)
		if err == nil || !errors.Is(err, rootdevice.ErrNoDisk) || time.Now().After(deadline) {
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
func (m *Machine) chooseRoot(ctx context.Context, n agentapi.CommandNode, w rootdevice.Wish) (agentapi.Disk, error) {
	if d, ok, err := m.rootVolume(ctx, n, len(w.Hints) > 0); ok || err != nil {
		return d, err
	}
	disks, skipped := m.Disks()
	disks, skipped, err := m.withoutKept(ctx, n, disks, skipped)
	if err != nil {
		return agentapi.Disk{}, err
	}
	d, _, err := rootdevice.Choose(disks, skipped, w)
	return d, err
}

// allowedDisks are the disks without those the operator keeps for something
// else (properties.skip_block_devices, a list of hints).
func (m *Machine) allowedDisks(n agentapi.CommandNode) ([]agentapi.Disk, []agentapi.SkippedDisk, error) {
	all, skipped := m.Disks()
	skip, _, err := rootdevice.SkipFrom(n.Properties)
	if err != nil {
		return nil, nil, err
	}
	allowed := []agentapi.Disk{}
	for _, d := range all {
		by, err := rootdevice.KeptBy(skip, d)
		if err != nil {
			return nil, nil, err
		}
		if by != nil {
			skipped = append(skipped, agentapi.SkippedDisk{Name: d.Name, Reason: "in skip_block_devices"})
			continue
		}
		allowed = append(allowed, d)
	}
	return allowed, skipped, nil
}

// noDevice is a step that finds no disk or partition to work on.
func noDevice(err error) error {
	return agentapi.NewCommandError("DeviceNotFound",
		"Error finding the disk or partition device to deploy the image onto", err.Error())
}
