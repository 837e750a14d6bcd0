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
	health int    // the lower the better
}

func pathOf(fsys fs.FS, name string) diskPath {
	folder := path.Join("sys/block", name)
	return diskPath{disk(fsys, name), memberOf(fsys, folder), health(fsys, folder)}
}

// health ranks a path: those that carry no commands last, and of the others
// those that an array's controller prefers first (ALUA, SPC-4 5.15). Most disks
// say nothing of the kind.
func health(fsys fs.FS, folder string) int {
	state, access := text(fsys, folder, "device/state"), text(fsys, folder, "device/access_state")
	if !slices.Contains([]string{"", "running", "live"}, state) { // SCSI's word, NVMe's word
		return 3
	}
	switch access {
	case "", "active/optimized":
		return 0
	case "active/non-optimized", "lba-dependent":
		return 1
	}
	return 2
}

// mergePaths makes one disk of several paths: the one an array has it by, since
// through it alone the kernel knows that the disk is in use; else the best. Disks
// that are in use are then left out.
func mergePaths(paths []diskPath) (disks []agentapi.Disk, left []agentapi.SkippedDisk) {
	slices.SortStableFunc(paths, func(a, b diskPath) int {
		return cmp.Or(-cmp.Compare(min(len(a.array), 1), min(len(b.array), 1)), cmp.Compare(a.health, b.health))
	})
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
