package redfish

import "slices"

const raidPath = systemPath + "/Storage/RAID"

// RAID is a storage controller that makes volumes. Its drives exist only here: QEMU has no such controller, so that no
// operating system sees a volume of it.
type RAID struct {
	DriveGiB   []int    // one for each drive, numbered from 1
	ApplyTimes []string // Immediate, OnReset; none is both
	Foreign    bool     // some drives hold volumes of another machine; with the vendor Dell the controller can forget them
}

func (r RAID) applyTimes() []string {
	if len(r.ApplyTimes) == 0 {
		return []string{applyImmediate, applyOnReset}
	}
	return r.ApplyTimes
}

// raidType is RAIDType (Redfish, Volume).
type raidType string

// layout is the demand of a RAID type on its drives.
type layout struct {
	raidType raidType
	min, max int // drives
	even     bool
	data     func(n int) int // how many of n drives' space is left for data
}

// layouts has every type the controller can make.
func layouts() []layout {
	const many = 1 << 10
	return []layout{
		{"RAID0", 1, many, false, func(n int) int { return n }},
		{"RAID1", 2, 2, false, func(int) int { return 1 }},
		{"RAID5", 3, many, false, func(n int) int { return n - 1 }},
		{"RAID6", 4, many, false, func(n int) int { return n - 2 }},
		{"RAID10", 4, many, true, func(n int) int { return n / 2 }},
	}
}

func raidTypes() []raidType {
	var types []raidType
	for _, l := range layouts() {
		types = append(types, l.raidType)
	}
	return types
}

func layoutOf(t raidType) (layout, bool) {
	all := layouts()
	i := slices.IndexFunc(all, func(l layout) bool { return l.raidType == t })
	if i < 0 {
		return layout{}, false
	}
	return all[i], true
}
