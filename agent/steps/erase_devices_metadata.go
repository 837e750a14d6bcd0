package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/agent/disk/erase"
	"github.com/ferrite-metal/ferrite/agent/inventory"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// eraseMetadata makes all disks look new: partition tables, file systems,
// RAID and LVM are gone, and that is read back. Data stays where it was. A
// disk that cannot be done does not keep the others from being done, but the
// step fails and names it.
func eraseMetadata(ctx context.Context, m *Machine, r Request) (any, error) {
	if err := m.awaitAll(ctx, r.Step.Step, r.Node); err != nil {
		return nil, eraseError(err)
	}
	disks, skipped, err := m.freeDisks(ctx, r.Node)
	if err != nil {
		return nil, eraseError(err)
	}
	m.setWritten(nil)
	for _, s := range append(skipped, inventory.HiddenDisks(m.Root)...) {
		m.Log.Info("disk is not erased", "disk", s.Name, "reason", s.Reason)
	}
	// As in ironic-python-agent: devices on top of others come later in the alphabet
	// (partitions after their disk).
	slices.SortFunc(disks, func(a, b agentapi.Disk) int { return strings.Compare(b.Name, a.Name) })
	var errs []error
	for i, d := range disks {
		m.Progress(agentapi.Progress{Step: r.Step.Step, Stage: d.Name, Done: int64(i), Total: int64(len(disks))})
		if err := m.eraseOne(ctx, d, r.Node); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", d.Name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, eraseError(err)
	}
	return nil, nil
}

// guard refuses a disk with a file system that machines share, unless the operator
// lets it be lost.
func guard(d disk.Disk, n agentapi.CommandNode) error {
	guards, err := erase.Guards(n.DriverInternalInfo)
	if err != nil || !guards {
		return err
	}
	return disk.Guard(d)
}

// eraseOne wipes the metadata of one disk, unless it has a file system that machines
// share.
func (m *Machine) eraseOne(ctx context.Context, d agentapi.Disk, n agentapi.CommandNode) error {
	dev, err := m.Open(ctx, d.Name)
	if err != nil {
		return err
	}
	defer dev.Close() //nolint:errcheck // flushed before; closing shows no other error
	if err := guard(dev, n); err != nil {
		return err
	}
	report, err := disk.WipeMetadata(ctx, dev)
	if err != nil {
		return err
	}
	if err := dev.RereadPartitions(ctx); err != nil {
		return err
	}
	m.Log.Info("disk metadata erased", "disk", d.Name, "found", report.Found, "partitions", report.Partitions)
	return nil
}
