package steps

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/rootdevice"
)

// freeDisks are the allowed disks without those that hold a volume the operator keeps.
// Only the disks themselves show such a volume: it may not be running.
func (m *Machine) freeDisks(
	ctx context.Context, n agentapi.CommandNode,
) ([]agentapi.Disk, []agentapi.SkippedDisk, error) {
	disks, skipped, err := m.allowedDisks(n)
	if err != nil {
		return nil, nil, err
	}
	return m.withoutKept(ctx, n, disks, skipped)
}

// withoutKept moves the disks that hold a volume the operator keeps from disks
// to skipped. A disk that does not let itself be asked is an error: it may be one.
func (m *Machine) withoutKept(
	ctx context.Context, n agentapi.CommandNode, disks []agentapi.Disk, skipped []agentapi.SkippedDisk,
) ([]agentapi.Disk, []agentapi.SkippedDisk, error) {
	keep, err := keptVolumes(n)
	if err != nil || len(keep) == 0 {
		return disks, skipped, err
	}
	free := []agentapi.Disk{}
	ask := func(ctx context.Context, d agentapi.Disk) (string, error) { return m.keptOn(ctx, d, keep) }
	for _, a := range askDisks(ctx, disks, ask) {
		if a.err != nil {
			return nil, nil, fmt.Errorf("look for RAID volumes that skip_block_devices keeps: %s: %w", a.disk.Name, a.err)
		}
		if a.value != "" {
			skipped = append(skipped, agentapi.SkippedDisk{Name: a.disk.Name,
				Reason: "it holds RAID volume " + a.value + ", which is in skip_block_devices"})
			continue
		}
		free = append(free, a.disk)
	}
	return free, skipped, nil
}

// yetToMake are the logical disks without the volumes that the operator keeps and
// that are there: the configuration names them too, and a second one of the name
// would be taken for the first.
func (m *Machine) yetToMake(ctx context.Context, n agentapi.CommandNode, logical []logicalDisk) ([]logicalDisk, error) {
	keep, err := keptVolumes(n)
	if err != nil || len(keep) == 0 {
		return logical, err
	}
	there := map[string]bool{}
	disks, _, err := m.allowedDisks(n)
	if err != nil {
		return nil, err
	}
	for _, d := range disks {
		name, err := m.keptOn(ctx, d, keep)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
		there[name] = true
	}
	var missing []logicalDisk
	for _, l := range logical {
		_, runs := m.runningArray(l.VolumeName)
		members, kept := keep[l.VolumeName]
		if kept && (runs || there[l.VolumeName]) {
			m.Log.Info("RAID volume is left as it is", "volume", l.VolumeName, "reason", "in skip_block_devices")
			if len(members) > 0 {
				l.given["member_disks"] = members
			}
			continue
		}
		missing = append(missing, l)
	}
	return missing, nil
}

// identityOf identifies a disk, in another boot too where its hardware has a name.
func identityOf(d agentapi.Disk) string {
	return cmp.Or(d.WWNWithExtension, d.WWN, d.Serial, d.ByPath, d.Name)
}

// keptVolumes are the names of the volumes that the operator keeps, with the disks on which create_configuration made
// them. A superblock alone proves nothing: any root user on the machine can write one to any disk, and would so exempt
// it from erasing.
func keptVolumes(n agentapi.CommandNode) (map[string][]string, error) {
	_, names, err := rootdevice.SkipFrom(n.Properties)
	keep := map[string][]string{}
	for _, name := range names {
		keep[name] = nil
	}
	for _, l := range volumesOfNode(n) {
		if _, kept := keep[l.VolumeName]; kept {
			keep[l.VolumeName] = l.MemberDisks
		}
	}
	return keep, err
}

// keptOn names a volume on a disk that the operator keeps; "" when there is
// none. It is an error that the disk says so, and raid_config does not.
func (m *Machine) keptOn(ctx context.Context, d agentapi.Disk, keep map[string][]string) (string, error) {
	if len(keep) == 0 {
		return "", nil // and no disk need be asked
	}
	found, err := m.membersOn(ctx, d)
	if err != nil {
		return "", err
	}
	for _, f := range found {
		name := plainName(f.Name)
		members, kept := keep[name]
		if !kept {
			continue
		}
		if !slices.Contains(members, identityOf(d)) {
			return "", fmt.Errorf("it has a superblock of RAID volume %s, which skip_block_devices keeps, but %q is "+
				"not among that volume's member_disks in the node's raid_config, and a tenant may have written it; in "+
				"skip_block_devices replace the volume_name by the serial of each disk that is to be kept", name, identityOf(d))
		}
		return name, nil
	}
	return "", nil
}

// plainName is an array's name without the host that mdadm puts before it.
func plainName(name string) string {
	if _, plain, ok := strings.Cut(name, ":"); ok {
		return plain
	}
	return name
}
