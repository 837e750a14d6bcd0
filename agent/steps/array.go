package steps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/rootdevice"
)

// array is software RAID that runs.
type array struct {
	disk.Array
	device  string // /dev/md0
	members []arrayMember
}

// arrayMember is a partition of an array, and its table: the kernel holds the disk while the array runs, so it was
// read before. An array of another maker may have whole disks, which have a nil table.
type arrayMember struct {
	disk.Member
	disk   string
	table  *disk.Table
	part   disk.Part
	sector int
	broken error // of a damaged superblock, of which the name alone is known
}

// membersOn reads which members of arrays a disk holds.
func (m *Machine) membersOn(ctx context.Context, d agentapi.Disk) ([]arrayMember, error) {
	dev, err := m.Open(ctx, d.Name)
	if err != nil {
		return nil, err
	}
	defer dev.Close()                        //nolint:errcheck // only read from
	parts := []disk.Part{{Size: dev.Size()}} // the disk itself, which may have the table of the array in it
	table, err := disk.ReadTable(dev)
	switch {
	case err == nil:
		parts = append(parts, table.Parts()...)
	case errors.Is(err, disk.ErrNoTable), errors.Is(err, disk.ErrTable):
		parts = append(parts, disk.FormerParts(dev)...) // of members that nothing can run any more
	default:
		return nil, fmt.Errorf("%s: %w", d.Name, err)
	}
	var found []arrayMember
	for _, p := range parts {
		member, err := disk.ReadMember(dev, p)
		if errors.Is(err, disk.ErrNoMember) {
			continue
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", d.Name, err)
		}
		if err != nil && !errors.Is(err, disk.ErrDamagedMember) {
			return nil, err
		}
		f := arrayMember{member, d.Name, table, p, dev.LogicalSectorSize(), err}
		if p.Number == 0 {
			f.table = nil
		}
		found = append(found, f)
	}
	return found, nil
}

// volumesOfNode are the software RAID volumes a node is said to have.
func volumesOfNode(n agentapi.CommandNode) []logicalDisk {
	logical, err := raidConfig(n.RAIDConfig)
	if err != nil {
		return nil // none, or a controller's
	}
	return logical
}

// assemble makes the kernel run the arrays of the logical disks that do not
// run yet: it does not do so by itself.
func (m *Machine) assemble(ctx context.Context, n agentapi.CommandNode, logical []logicalDisk) error {
	var missing []logicalDisk
	for _, l := range logical {
		if _, runs := m.runningArray(l.VolumeName); !runs {
			missing = append(missing, l)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	m.LoadModule("raid1")
	disks, skipped, err := m.allowedDisks(n)
	if err != nil {
		return err
	}
	byName := map[string][]arrayMember{}
	var aside []error // disks and members that may be of other arrays
	for _, d := range disks {
		found, err := m.membersOn(ctx, d)
		aside = append(aside, err)
		for _, f := range found {
			switch {
			case f.broken != nil:
				aside = append(aside, f.broken)
			case f.table != nil: // else none of the arrays we make
				byName[plainName(f.Name)] = append(byName[plainName(f.Name)], f)
			}
		}
	}
	for _, l := range missing {
		if err := m.run(l.VolumeName, byName[l.VolumeName], skipped); err != nil {
			return errors.Join(append([]error{err}, aside...)...)
		}
	}
	if err := errors.Join(aside...); err != nil {
		m.Log.Warn("set aside in the search for members of RAID volumes", "err", err)
	}
	return nil
}

// run starts one array, with all its members or not at all: a system written
// onto half a mirror would be lost with the next repair.
func (m *Machine) run(name string, members []arrayMember, skipped []agentapi.SkippedDisk) error {
	slices.SortFunc(members, func(a, b arrayMember) int { return cmp.Compare(a.Number, b.Number) })
	if len(members) == 0 {
		return fmt.Errorf("%w: no member of RAID volume %s was found", rootdevice.ErrNoDisk, name)
	}
	a := array{Array: members[0].Array, members: members}
	for i, f := range members {
		if f.Array.ID != a.ID {
			return fmt.Errorf("RAID volume %s is there twice: on %s and on %s; run delete_configuration", name,
				members[0].disk, f.disk)
		}
		if f.Number != i {
			return fmt.Errorf("%w: RAID volume %s lacks member %d of %d", rootdevice.ErrNoDisk, name, i, a.Members)
		}
	}
	if len(members) != a.Members {
		return fmt.Errorf("%w: RAID volume %s has %d of its %d members", rootdevice.ErrNoDisk, name, len(members), a.Members)
	}
	number := m.freeArray(skipped)
	a.device = fmt.Sprintf("/dev/md%d", number)
	var paths []string
	for _, f := range members {
		paths = append(paths, partitionPath(f.disk, f.part.Number))
	}
	if err := m.Kernel.RunArray(number, paths); err != nil {
		return fmt.Errorf("RAID volume %s of %s: %w", name, strings.Join(paths, ", "), err)
	}
	m.Log.Info("array runs", "volume", name, "device", a.device, "size", a.Size, "members", paths)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.arrays = append(m.arrays, a)
	return nil
}

// freeArray is the lowest number no array has.
func (m *Machine) freeArray(skipped []agentapi.SkippedDisk) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	for n := 0; ; n++ {
		device := fmt.Sprintf("/dev/md%d", n)
		ours := slices.ContainsFunc(m.arrays, func(a array) bool { return a.device == device })
		if !ours && !slices.ContainsFunc(skipped, func(s agentapi.SkippedDisk) bool { return s.Name == device }) {
			return n
		}
	}
}

// runningArray finds an array that runs by its volume's name or its device.
func (m *Machine) runningArray(name string) (array, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.arrays {
		if plainName(a.Name) == name || a.device == name {
			return a, true
		}
	}
	return array{}, false
}

// stopArrays ends all arrays but those the operator keeps. Nothing on them is
// changed.
func (m *Machine) stopArrays(n agentapi.CommandNode) error {
	_, keep, err := rootdevice.SkipFrom(n.Properties)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var kept []array
	var errs []error
	for _, a := range m.arrays {
		if slices.Contains(keep, plainName(a.Name)) {
			kept = append(kept, a)
			continue
		}
		if err := m.Kernel.StopArray(a.device); err != nil {
			kept, errs = append(kept, a), append(errs, fmt.Errorf("stop RAID volume %s: %w", a.Name, err))
			continue
		}
		m.Log.Info("array stopped", "volume", a.Name, "device", a.device)
	}
	m.arrays = kept
	return errors.Join(errs...)
}

// rootVolume is the array a node is installed onto: the one marked as the
// root volume, or the only one when neither it nor hints say otherwise. Where
// the node has other volumes, they run from now on, which keeps their members
// from being taken for disks to install onto.
func (m *Machine) rootVolume(
	ctx context.Context, n agentapi.CommandNode, hinted bool,
) (d agentapi.Disk, ok bool, err error) {
	logical := volumesOfNode(n)
	keep, err := keptVolumes(n)
	if err == nil {
		_, _, err = m.freeDisks(ctx, n) // no array of a kept volume's name may run that is not it
	}
	if err != nil {
		return d, false, err
	}
	if err := m.assemble(ctx, n, logical); err != nil {
		return d, false, err
	}
	at := slices.IndexFunc(logical, logicalDisk.isRoot)
	if at < 0 && len(logical) == 1 && logical[0].IsRootVolume == nil && !hinted {
		if _, kept := keep[logical[0].VolumeName]; !kept {
			at = 0
		}
	}
	if at < 0 {
		return d, false, nil
	}
	a, _ := m.runningArray(logical[at].VolumeName)
	return agentapi.Disk{Name: a.device, Size: a.Size, LogicalSectors: a.members[0].sector}, true, nil
}
