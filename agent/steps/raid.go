package steps

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// applyConfigurationArgs describes the step's arguments.
func applyConfigurationArgs() map[string]any {
	return map[string]any{
		"raid_config": map[string]any{"required": true,
			"description": "The RAID configuration to make, in the form of target_raid_config."},
		"delete_existing": map[string]any{"required": false,
			"description": "Whether software RAID that is there is deleted first; true by default."},
	}
}

// createConfiguration is the clean step raid.create_configuration: it makes
// the node's target_raid_config on disks that hold nothing.
func createConfiguration(ctx context.Context, m *Machine, r Request) (any, error) {
	logical, err := raidConfig(r.Node.TargetRAIDConfig)
	if err != nil {
		return nil, raidFailure(fmt.Errorf("target_raid_config: %w", err))
	}
	return m.makeRAID(ctx, r, logical, false)
}

// applyConfiguration is the deploy step raid.apply_configuration.
func applyConfiguration(ctx context.Context, m *Machine, r Request) (any, error) {
	config, _ := r.Step.Args["raid_config"].(map[string]any)
	logical, err := raidConfig(config)
	if err != nil {
		return nil, raidFailure(fmt.Errorf("raid_config: %w", err))
	}
	fresh := true
	if given, ok := r.Step.Args["delete_existing"]; ok && given != nil {
		if fresh, ok = given.(bool); !ok {
			return nil, raidFailure(fmt.Errorf("delete_existing is %v, expected true or false", given))
		}
	}
	return m.makeRAID(ctx, r, logical, fresh)
}

// deleteConfiguration is the clean step raid.delete_configuration: arrays end,
// and their members' disks look new. Volumes that skip_block_devices names
// stay, with all that is on their disks.
func deleteConfiguration(ctx context.Context, m *Machine, r Request) (any, error) {
	if err := m.deleteRAID(ctx, r.Node); err != nil {
		return nil, raidFailure(err)
	}
	return nil, nil
}

// makeRAID makes arrays. All that can be refused is before anything is
// changed; arrays that are in the way are at most stopped before.
func (m *Machine) makeRAID(ctx context.Context, r Request, logical []logicalDisk, fresh bool) (any, error) {
	n := r.Node
	if fresh {
		if err := m.stopArrays(n); err != nil {
			return nil, raidFailure(err)
		}
	}
	candidates, _, err := m.freeDisks(ctx, n)
	if err != nil {
		return nil, raidFailure(err)
	}
	missing, err := m.yetToMake(ctx, n, logical)
	if err != nil {
		return nil, raidFailure(err)
	}
	plan, err := planRAID(missing, candidates, m.EFIVars() != nil)
	if err != nil {
		return nil, raidFailure(err)
	}
	if err := m.mustBeEmpty(ctx, plan, fresh, n); err != nil {
		return nil, raidFailure(err)
	}
	if fresh {
		if err := m.deleteRAID(ctx, n); err != nil {
			return nil, raidFailure(err)
		}
	}
	m.setWritten(nil)
	if err := m.writeLayout(ctx, r, missing, plan); err != nil {
		return nil, raidFailure(err)
	}
	if err := m.assemble(ctx, n, logical); err != nil {
		return nil, raidFailure(err)
	}
	return reported(logical), nil
}

// mustBeEmpty refuses disks with partitions or RAID on them, and those with a file
// system that machines share. With fresh, RAID is about to be deleted and does no
// harm.
func (m *Machine) mustBeEmpty(ctx context.Context, plan layout, fresh bool, n agentapi.CommandNode) error {
	var errs []error
	for _, d := range plan.disks {
		err := m.emptyDisk(ctx, d.Name, fresh, n)
		if errors.Is(err, disk.ErrProtected) {
			errs = append(errs, fmt.Errorf("%s: %w", d.Name, err))
		} else if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w; run delete_configuration or erase_devices_metadata first", d.Name, err))
		}
	}
	return errors.Join(errs...)
}

func (m *Machine) emptyDisk(ctx context.Context, path string, fresh bool, n agentapi.CommandNode) error {
	dev, err := m.Open(ctx, path)
	if err != nil {
		return err
	}
	defer dev.Close() //nolint:errcheck // only read from
	if err := guard(dev, n); err != nil {
		return err
	}
	traces, err := disk.RAIDTraces(dev)
	if err != nil {
		return err
	}
	if len(traces) > 0 && fresh {
		return nil
	}
	if len(traces) > 0 {
		return fmt.Errorf("RAID is on it already (%s)", strings.Join(traces, ", "))
	}
	table, err := disk.ReadTable(dev)
	switch {
	case errors.Is(err, disk.ErrNoTable):
		return nil
	case err != nil:
		return err
	case len(table.Parts()) > 0:
		return fmt.Errorf("it has %d partitions", len(table.Parts()))
	}
	return nil
}

// writeLayout divides the disks and makes the members.
func (m *Machine) writeLayout(ctx context.Context, r Request, logical []logicalDisk, plan layout) error {
	arrays := make([]disk.Array, len(logical))
	for i, l := range logical {
		a, err := disk.NewArray(l.VolumeName, plan.counts[i], plan.sizes[i], time.Now(), rand.Reader)
		if err != nil {
			return err
		}
		arrays[i] = a
	}
	for i, d := range plan.disks {
		for _, p := range d.members {
			of := logical[p.logical].given
			members, _ := of["member_disks"].([]string)
			of["member_disks"] = append(members, identityOf(d.Disk))
		}
		m.Progress(agentapi.Progress{Step: r.Step.Step, Stage: d.Name, Done: int64(i), Total: int64(len(plan.disks))})
		if err := m.divide(ctx, d, arrays, r.Node); err != nil {
			return fmt.Errorf("%s: %w", d.Name, err)
		}
	}
	return nil
}

// divide makes one disk's partition table and members.
func (m *Machine) divide(ctx context.Context, d *memberDisk, arrays []disk.Array, n agentapi.CommandNode) error {
	dev, err := m.Open(ctx, d.Name)
	if err != nil {
		return err
	}
	defer dev.Close() //nolint:errcheck // flushed before; closing shows no other error
	if err := guard(dev, n); err != nil {
		return err
	}
	if _, err := disk.WipeMetadata(ctx, dev); err != nil {
		return err
	}
	sizes := make([]int64, len(d.members))
	for i, p := range d.members {
		sizes[i] = p.size
	}
	parts, err := disk.WriteMemberTable(dev, m.EFIVars() != nil, sizes, rand.Reader)
	if err != nil {
		return err
	}
	for i, p := range d.members {
		if err := disk.WriteMember(dev, parts[i], arrays[p.logical], p.role, rand.Reader); err != nil {
			return err
		}
	}
	return dev.RereadPartitions(ctx)
}

// deleteRAID ends the arrays and wipes the disks that hold members.
func (m *Machine) deleteRAID(ctx context.Context, n agentapi.CommandNode) error {
	if err := m.stopArrays(n); err != nil {
		return err
	}
	m.setWritten(nil)
	disks, _, err := m.allowedDisks(n)
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range disks {
		if err := m.deleteMembers(ctx, d, n); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", d.Name, err))
		}
	}
	return errors.Join(errs...)
}

// deleteMembers wipes a disk with RAID on it, unless that is kept.
func (m *Machine) deleteMembers(ctx context.Context, d agentapi.Disk, n agentapi.CommandNode) error {
	keep, err := keptVolumes(n)
	if err != nil {
		return err
	}
	kept, err := m.keptOn(ctx, d, keep)
	if err != nil {
		return err
	}
	if kept != "" {
		m.Log.Info("disk is left as it is", "disk", d.Name, "kept_volume", kept)
		return nil
	}
	has, err := m.hasRAID(ctx, d.Name)
	if err != nil || !has {
		return err
	}
	return m.eraseOne(ctx, d, n)
}

func (m *Machine) hasRAID(ctx context.Context, path string) (bool, error) {
	dev, err := m.Open(ctx, path)
	if err != nil {
		return false, err
	}
	defer dev.Close() //nolint:errcheck // only read from
	traces, err := disk.RAIDTraces(dev)
	return len(traces) > 0, err
}
