package agentapi

import (
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/placeholder"
)

// DiskPath is one more way to a disk: another port of the drive, or of an
// array's controller. The kernel shows each as a disk of its own unless
// something (dm-multipath, NVMe's native multipath) puts them together.
type DiskPath struct {
	Name   string `json:"name"`
	HCTL   string `json:"hctl,omitempty"`
	ByPath string `json:"by_path,omitempty"`
}

// MergePaths merges the names of one disk into one entry. The first stays, with the others among its Paths; the others
// are also returned in left. Disks otherwise keep their contents and order.
func MergePaths(disks []Disk) (merged []Disk, left []SkippedDisk) {
	merged = []Disk{}
	at := map[diskIdentity]int{}
	for _, d := range disks {
		id, certain := d.identity()
		i, seen := at[id]
		if !certain || !seen {
			at[id] = len(merged)
			d.Paths = slices.Clone(d.Paths)
			merged = append(merged, d)
			continue
		}
		first := &merged[i]
		first.Paths = append(append(first.Paths, DiskPath{d.Name, d.HCTL, d.ByPath}), d.Paths...)
		left = append(left, SkippedDisk{Name: d.Name, Reason: "another path to " + first.Name})
	}
	return merged, left
}

// diskIdentity is all that a disk says of itself.
type diskIdentity struct {
	wwn, serial, model, vendor, transport string
	size                                  int64
}

// identity returns the properties that two paths to one disk share. certain is false where two disks may share them
// too. A world-wide name alone is not enough. A disk wrongly taken for another's path would be left unerased, and some
// drives and bridges all have the same name. Disks of one port (SATA, USB, cards) never have two paths, and some of
// them share even their serial number. A SATA disk behind a SAS controller is recognized by its vendor. Units of an
// array share the first half of a long name.
func (d Disk) identity() (id diskIdentity, certain bool) {
	wwn := d.WWNWithExtension
	if wwn == "" {
		wwn = d.WWN
	}
	// The kernel makes an NVMe name of maker, serial number and model where the drive has none, so that clones share it
	// (VirtualBox/virtualbox#828).
	named := placeholder.Text(strings.TrimPrefix(wwn, "eui.")) != "" && !strings.HasPrefix(wwn, "nvme.")
	certain = named && placeholder.Text(d.Serial) != "" && d.Vendor != "ATA" &&
		slices.Contains([]string{"", "sas", "fc", "iscsi", "nvme"}, d.Transport)
	return diskIdentity{wwn, d.Serial, d.Model, d.Vendor, d.Transport, d.Size}, certain
}
