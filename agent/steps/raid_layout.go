package steps

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

const (
	raidAlign   = 1 << 20        // of partitions
	leastVolume = 16 * raidAlign // less is no volume but a mistake
)

// memberDisk is a disk and its members in order.
type memberDisk struct {
	agentapi.Disk
	members []memberPart
}

// memberPart is a member of one array.
type memberPart struct {
	logical int   // index of the logical disk
	role    int   // within the array
	size    int64 // of the partition, bytes
}

// layout is which disk gets which members, and how large the arrays are.
type layout struct {
	disks  []*memberDisk
	sizes  []int64 // by logical disk, bytes
	counts []int   // members
}

// planRAID decides where each logical disk's members go. Members that take the
// remaining space come last. It is pure, and refuses a configuration that does not
// fit.
func planRAID(logical []logicalDisk, candidates []agentapi.Disk, uefi bool) (layout, error) {
	out := layout{sizes: make([]int64, len(logical)), counts: make([]int, len(logical))}
	order := make([]int, 0, len(logical))
	for _, last := range []bool{false, true} {
		for i, l := range logical {
			if l.max() == last {
				order = append(order, i)
			}
		}
	}
	var errs []error
	for _, i := range order {
		chosen, err := chooseMembers(logical[i], candidates)
		if err == nil {
			err = out.place(i, logical[i], chosen, uefi)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("logical disk %d (%s): %w", i, logical[i].VolumeName, err))
		}
	}
	return out, errors.Join(errs...)
}

// chooseMembers finds the disks of an array: the first match of each hint
// that is not taken by one before it, or all disks.
func chooseMembers(l logicalDisk, candidates []agentapi.Disk) ([]agentapi.Disk, error) {
	if l.PhysicalDisks == nil {
		if len(candidates) < 2 {
			return nil, fmt.Errorf("RAID 1 needs at least 2 disks, %d can be used", len(candidates))
		}
		return candidates, nil
	}
	var chosen []agentapi.Disk
	for _, hints := range l.PhysicalDisks {
		found := false
		for _, d := range candidates {
			matches, err := hints.Match(d)
			if err != nil {
				return nil, fmt.Errorf("physical_disks: %w", err)
			}
			taken := slices.ContainsFunc(chosen, func(c agentapi.Disk) bool { return c.Name == d.Name })
			if matches && !taken {
				chosen, found = append(chosen, d), true
				break
			}
		}
		if !found {
			return nil, fmt.Errorf("no disk left for physical_disks %v of %d that can be used", hints, len(candidates))
		}
	}
	return chosen, nil
}

// place puts an array's members behind the existing ones on their disks.
func (o *layout) place(i int, l logicalDisk, chosen []agentapi.Disk, uefi bool) error {
	var disks []*memberDisk
	var size int64
	for _, c := range chosen {
		at := slices.IndexFunc(o.disks, func(d *memberDisk) bool { return d.Name == c.Name })
		if at < 0 {
			at = len(o.disks)
			o.disks = append(o.disks, &memberDisk{Disk: c})
		}
		d := o.disks[at]
		disks = append(disks, d)
		if room := disk.MemberSize(d.free(uefi)); size == 0 || room < size {
			size = max(room, 1)
		}
	}
	if gb, number := l.SizeGB.(float64); number {
		want := int64(gb) << 30
		if size < want {
			return fmt.Errorf("no room for %d bytes on each of its disks: the least has %d left", want, max(size, 0))
		}
		size = want
	}
	if size < leastVolume {
		return fmt.Errorf("nothing is left for it on at least one of its disks")
	}
	for role, d := range disks {
		d.members = append(d.members, memberPart{i, role, disk.MemberRoom(size)})
	}
	o.sizes[i], o.counts[i] = size, len(disks)
	return nil
}

// free is the remaining space of a disk, in whole MiB.
func (d *memberDisk) free(uefi bool) int64 {
	used := disk.MemberTableRoom(uefi)
	for _, m := range d.members {
		used += m.size
	}
	return max(0, (d.Size-used)/raidAlign*raidAlign)
}
