package redfish

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// logicalDisk is an entry of target_raid_config, as Ironic has it.
type logicalDisk struct {
	SizeGB        any      `json:"size_gb"` // a number, or MAX
	Level         string   `json:"raid_level"`
	Name          string   `json:"volume_name"`
	Root          bool     `json:"is_root_volume"`
	Controller    string   `json:"controller"`
	PhysicalDisks []string `json:"physical_disks"` // ids of drives
	Number        int      `json:"number_of_physical_disks"`
	DiskType      string   `json:"disk_type"`      // hdd, ssd
	InterfaceType string   `json:"interface_type"` // sas, sata
	Share         bool     `json:"share_physical_disks"`

	level raidLevel
	bytes int64 // 0 for MAX
}

func (d logicalDisk) String() string {
	return fmt.Sprintf("the logical disk of raid_level %s and size_gb %v", d.Level, d.SizeGB)
}

// logicalDisks reads a configuration, and reports its errors before any request to a BMC.
func logicalDisks(config any) ([]logicalDisk, error) {
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	var c struct {
		LogicalDisks []logicalDisk `json:"logical_disks"`
	}
	if err := strictly(text, &c, "the logical disks of the RAID configuration"); err != nil {
		return nil, err
	}
	if len(c.LogicalDisks) == 0 {
		return nil, broken("the RAID configuration has no logical_disks: set the node's target_raid_config first")
	}
	for i := range c.LogicalDisks {
		if err := c.LogicalDisks[i].check(); err != nil {
			return nil, err
		}
	}
	return c.LogicalDisks, nil
}

func (d *logicalDisk) check() error {
	var known bool
	if d.level, known = levelOf(func(l raidLevel) bool { return l.name == d.Level }); !known {
		return broken("%s: redfish knows only the levels 0, 1, 5, 6, 1+0, 5+0 and 6+0", d)
	}
	if d.SizeGB != "MAX" {
		n, err := number(d.SizeGB)
		if err != nil || n < 1 {
			return broken("%s: size_gb must be a whole number of at least 1, or MAX", d)
		}
		d.bytes = int64(n) << 30
	}
	n := d.Number
	switch {
	case d.Controller == "software":
		return broken("%s: software RAID is made by the agent: use the raid interface agent", d)
	case d.Share:
		return broken("%s: share_physical_disks is not supported, give every logical disk drives of its own", d)
	case len(d.PhysicalDisks) > 0 && n != 0 && n != len(d.PhysicalDisks):
		return broken("%s: number_of_physical_disks is %d, and there are %d physical_disks", d, n, len(d.PhysicalDisks))
	case len(d.PhysicalDisks) > 0:
		n = len(d.PhysicalDisks)
	case n == 0 && d.bytes == 0:
		return broken("%s: MAX needs physical_disks or number_of_physical_disks", d)
	}
	if n != 0 && !d.level.fits(n) {
		return broken("%s: level %s cannot be made of %d drives, it takes %s", d, d.Level, n, d.level.takes())
	}
	return nil
}

// takes describes the number of drives for a level.
func (l raidLevel) takes() string {
	switch {
	case l.max == l.min:
		return fmt.Sprint("exactly ", l.min)
	case l.spans != 1:
		return fmt.Sprintf("an even number of at least %d", l.min)
	}
	return fmt.Sprint("at least ", l.min)
}

// newVolume is a volume to be made.
type newVolume struct {
	controller raidController
	disk       logicalDisk
	drives     []drive
}

// raidPlan is how the volumes that are there become those that are wanted.
type raidPlan struct {
	remove []request
	create []newVolume
	kept   int
}

// layOut finds drives for every logical disk, or returns an error that names a disk without drives. A volume that is as
// wanted stays; with replace, all others are removed first and their drives are free. A configuration that cannot be
// made whole is refused whole.
func layOut(all []raidController, disks []logicalDisk, replace bool) (raidPlan, error) {
	if len(all) == 0 {
		return raidPlan{},
			broken("the machine has no RAID controller that the BMC knows: leave the step out, or use software RAID")
	}
	var p raidPlan
	used, missing := map[string]bool{}, []logicalDisk{}
	keep := map[string]bool{}
	// Disks that name their drives come first: they have no other choice.
	disks = slices.Clone(disks)
	slices.SortStableFunc(disks, func(a, b logicalDisk) int {
		return boolOrder(len(a.PhysicalDisks) > 0, len(b.PhysicalDisks) > 0)
	})
	for _, d := range disks {
		if v, ok := present(all, d, keep); ok {
			keep[v.path] = true
			p.kept++
			continue
		}
		missing = append(missing, d)
	}
	for _, c := range all {
		for _, v := range c.present {
			if replace && !keep[v.path] {
				p.remove = append(p.remove, c.deletion(v))
				continue
			}
			for _, path := range v.drives {
				used[path] = true
			}
		}
	}
	var err error
	p.create, err = (&search{all, used, maxTries}).assign(missing)
	return p, err
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// present finds the volume that is a logical disk already.
func present(all []raidController, d logicalDisk, taken map[string]bool) (volume, bool) {
	for _, c := range all {
		for _, v := range c.present {
			sameSize := d.bytes == 0 || d.bytes == v.bytes
			sameCount := d.Number == 0 || d.Number == len(v.drives)
			sameName := d.Name == "" || d.Name == v.name
			named := len(d.PhysicalDisks) == 0 || sameDrives(v.drives, c.named(d.PhysicalDisks))
			here := d.Controller == "" || d.Controller == c.id
			if !taken[v.path] && v.raidType == d.level.raidType && sameSize && sameCount && sameName && named && here &&
				c.suits(d, v.drives) {
				return v, true
			}
		}
	}
	return volume{}, false
}

// named are the paths of drives by their ids; an id that is not here is left
// out.
func (c raidController) named(ids []string) []string {
	var found []string
	for _, d := range c.drives {
		if slices.Contains(ids, d.id) {
			found = append(found, d.path)
		}
	}
	return found
}

// suits reports whether all of the drives are of the kind that a logical disk asks for.
func (c raidController) suits(want logicalDisk, paths []string) bool {
	for _, d := range c.drives {
		if slices.Contains(paths, d.path) && !want.takes(d) {
			return false
		}
	}
	return true
}

func (d logicalDisk) takes(x drive) bool {
	return (d.DiskType == "" || strings.EqualFold(d.DiskType, x.media)) &&
		(d.InterfaceType == "" || strings.EqualFold(d.InterfaceType, x.transport))
}

// search looks for drives for logical disks.
type search struct {
	all  []raidController
	used map[string]bool // drives, by path
	left int             // tries
}

// maxTries bounds a search: the ways to share out many drives are too many.
const maxTries = 10_000

// assign gives the first logical disk the fewest drives that do, and tries
// others when that leaves too little for the rest.
func (s *search) assign(disks []logicalDisk) ([]newVolume, error) {
	if len(disks) == 0 {
		return nil, nil
	}
	d := disks[0]
	err := broken("%s: no free drives suit it; %s", d, s.inventory())
	for _, v := range s.candidates(d) {
		if s.left--; s.left < 0 {
			return nil, broken("%s: no way to share out the drives was found, name physical_disks; %s", d, s.inventory())
		}
		s.use(v, true)
		rest, fails := s.assign(disks[1:])
		if fails == nil {
			return append([]newVolume{v}, rest...), nil
		}
		s.use(v, false)
		err = fails
	}
	return nil, err
}

func (s *search) use(v newVolume, is bool) {
	for _, x := range v.drives {
		s.used[x.path] = is
	}
}

// candidates are the ways to make one logical disk, the best of a controller
// first.
func (s *search) candidates(d logicalDisk) []newVolume {
	var out []newVolume
	for _, c := range s.all {
		switch {
		case d.Controller != "" && d.Controller != c.id || c.types != nil && !slices.Contains(c.types, d.level.raidType):
		case len(d.PhysicalDisks) > 0:
			if v, ok := c.asNamed(d, s.used); ok {
				out = append(out, v)
			}
		default:
			out = append(out, c.choices(d, s.used)...)
		}
	}
	return out
}

// asNamed takes the drives a logical disk names.
func (c raidController) asNamed(d logicalDisk, used map[string]bool) (newVolume, bool) {
	v := newVolume{controller: c, disk: d}
	smallest := int64(0)
	for _, x := range c.drives {
		if slices.Contains(d.PhysicalDisks, x.id) && !used[x.path] && d.takes(x) {
			v.drives = append(v.drives, x)
			if smallest == 0 || x.bytes < smallest {
				smallest = x.bytes
			}
		}
	}
	return v, len(v.drives) == len(d.PhysicalDisks) && d.bytes <= d.level.room(len(v.drives), smallest)
}

// choices are sets of free drives that are alike, as Ironic wants them.
func (c raidController) choices(d logicalDisk, used map[string]bool) []newVolume {
	var groups [][]drive
	for _, x := range c.drives {
		if used[x.path] || !d.takes(x) {
			continue
		}
		i := slices.IndexFunc(groups, func(g []drive) bool {
			return g[0].media == x.media && g[0].transport == x.transport && g[0].bytes == x.bytes
		})
		if i < 0 {
			groups = append(groups, []drive{x})
			continue
		}
		groups[i] = append(groups[i], x)
	}
	var out []newVolume
	for _, g := range groups {
		for n := d.level.min; n <= min(d.level.max, len(g)); n++ {
			if d.level.fits(n) && (d.Number == 0 || d.Number == n) && d.bytes <= d.level.room(n, g[0].bytes) {
				out = append(out, newVolume{c, d, g[:n:n]})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b newVolume) int { return len(a.drives) - len(b.drives) })
	return out
}

// inventory lists the drives, for the error about a configuration that they cannot satisfy.
func (s *search) inventory() string {
	var list []string
	for _, c := range s.all {
		for _, x := range c.drives {
			state := "free"
			if s.used[x.path] {
				state = "taken"
			}
			list = append(list, fmt.Sprintf("%s (%s %s, %d GiB, %s)", x.id, x.transport, x.media, x.bytes>>30, state))
		}
	}
	return "the drives are " + strings.Join(list, ", ")
}
