package inventory

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// diskPath is one way to a disk, which has one as a rule.
type diskPath struct {
	disk   agentapi.Disk
	array  string // of which it is a member, by this path; "" for none
	health pathHealth
}

// pathHealth ranks the paths of a disk, the best first.
type pathHealth int

const (
	optimized    pathHealth = iota // or a disk that says nothing of the kind, as most do
	nonOptimized                   // works, by the controller that does not own the disk
	standby                        // takes no reads and writes as it is
	dead                           // carries no commands
	healths                        // how many there are
)

func pathOf(fsys fs.FS, name string) diskPath {
	folder := path.Join("sys/block", name)
	return diskPath{disk(fsys, name), memberOf(fsys, folder), health(fsys, folder)}
}

// health reads the kernel's state of a path, and the state that an array's controller
// reports (ALUA, SPC-4 5.15).
func health(fsys fs.FS, folder string) pathHealth {
	state, access := text(fsys, folder, "device/state"), text(fsys, folder, "device/access_state")
	if !slices.Contains([]string{"", "running", "live"}, state) { // SCSI's word, NVMe's word
		return dead
	}
	switch access {
	case "", "active/optimized":
		return optimized
	case "active/non-optimized", "lba-dependent":
		return nonOptimized
	}
	return standby
}

// rank orders the paths of a disk. The path that an array uses comes first, since
// through it alone the kernel knows that the disk is in use.
func (p diskPath) rank() pathHealth {
	if p.array != "" {
		return p.health - healths
	}
	return p.health
}

// mergePaths makes one disk of several paths, which goes by the first of them in
// rank. Disks that are in use are then left out.
func mergePaths(paths []diskPath) (disks []agentapi.Disk, left []agentapi.SkippedDisk) {
	slices.SortStableFunc(paths, func(a, b diskPath) int { return cmp.Compare(a.rank(), b.rank()) })
	all := make([]agentapi.Disk, len(paths))
	array := map[string]string{}
	for i, p := range paths {
		all[i], array[p.disk.Name] = p.disk, p.array
	}
	disks, left = agentapi.MergePaths(all)
	disks = slices.DeleteFunc(disks, func(d agentapi.Disk) bool {
		if array[d.Name] != "" {
			left = append(left, agentapi.SkippedDisk{Name: d.Name, Reason: "member of " + array[d.Name]})
		}
		return array[d.Name] != ""
	})
	slices.SortFunc(disks, func(a, b agentapi.Disk) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(left, func(a, b agentapi.SkippedDisk) int { return strings.Compare(a.Name, b.Name) })
	return disks, left
}
