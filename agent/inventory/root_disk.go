package inventory

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// ErrNoDisk is in the error of a machine without a disk that is certain to be
// the right one.
var ErrNoDisk = errors.New("no suitable disk")

// smallestRoot is the size from which a disk is taken for one to install an
// operating system on (4 GiB, as ironic-python-agent has it).
const smallestRoot = 4 << 30

// RootDisk chooses the disk to install onto. With hints it is the first, by
// size and name, that all of them match; without, the smallest of at least 4
// GiB and at least need bytes. Only when no disk reaches 4 GiB is the smallest
// taken that has need bytes. It never takes a disk that does not match.
func RootDisk(disks []agentapi.Disk, skipped []Skipped, hints Hints, need int64) (agentapi.Disk, error) {
	sorted := slices.Clone(disks)
	slices.SortStableFunc(sorted, func(a, b agentapi.Disk) int {
		return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(a.Name, b.Name))
	})
	if len(hints) > 0 {
		for _, d := range sorted {
			ok, err := hints.Match(d)
			if err != nil {
				return agentapi.Disk{}, err
			}
			if ok {
				return d, nil
			}
		}
		return agentapi.Disk{}, fmt.Errorf("%w: none matches root_device %s; %s", ErrNoDisk, hints, seen(disks, skipped))
	}
	for _, least := range []int64{max(need, smallestRoot), need} {
		for _, d := range sorted {
			if d.Size >= least && (least >= smallestRoot || sorted[len(sorted)-1].Size < smallestRoot) {
				return d, nil
			}
		}
	}
	return agentapi.Disk{}, fmt.Errorf("%w: none has %d bytes; %s", ErrNoDisk, max(need, 1), seen(disks, skipped))
}

// seen says what disks there are, and what was left out.
func seen(disks []agentapi.Disk, skipped []Skipped) string {
	var parts []string
	for _, d := range disks {
		part := fmt.Sprintf("%s (%d bytes", d.Name, d.Size)
		for _, f := range []struct{ name, value string }{{"model", d.Model}, {"serial", d.Serial}, {"wwn", d.WWN}} {
			if f.value != "" {
				part += fmt.Sprintf(", %s %q", f.name, f.value)
			}
		}
		parts = append(parts, part+")")
	}
	for _, s := range skipped {
		if s.Reason != "not hardware" {
			parts = append(parts, s.Name+" (left out: "+s.Reason+")")
		}
	}
	if len(parts) == 0 {
		return "there are no disks (is the controller's driver in the ramdisk?)"
	}
	return "disks seen: " + strings.Join(parts, ", ")
}
