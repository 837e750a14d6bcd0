package plan

import (
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// comparesDisks are the steps before which our agent waits for the disks of the last inspection. Erase steps fail
// without them.
var comparesDisks = map[string]bool{
	"deploy.erase_devices": true, "deploy.erase_devices_express": true, "deploy.erase_devices_metadata": true,
	writeImage: true,
}

// ComparesDisks reports whether a step gets ExpectedDisks when it begins. Only steps of our agent do.
func ComparesDisks(n node.Node, s node.Step) bool {
	if n.Run == nil || !comparesDisks[s.String()] {
		return false
	}
	_, ours := n.Run.Versions[ourManager]
	return ours
}

// ExpectedDisks are the disks that the last inspection saw, with the fields by which they are known again. After a
// change of the machine's RAID volumes, the volumes of before are gone: only drives that no RAID controller hides are
// expected then.
func ExpectedDisks(n node.Node, found agentapi.Inventory) []agentapi.Disk {
	disks, changed := []agentapi.Disk{}, volumesChanged(n)
	for _, d := range found.Disks {
		if !d.IsMachinePart() || changed && d.Transport != "nvme" || len(disks) == agentapi.MaxInspectedDisks {
			continue
		}
		disks = append(disks, agentapi.Disk{Name: d.Name, Model: d.Model, Vendor: d.Vendor, Serial: d.Serial, Size: d.Size,
			WWN: d.WWN, WWNVendorExtension: d.WWNVendorExtension, ByPath: d.ByPath})
	}
	return disks
}

// volumesChanged reports whether RAID volumes were made or deleted after the last inspection.
func volumesChanged(n node.Node) bool {
	at, err := time.Parse(time.DateTime+".000000", text(n.RAIDConfig, "last_updated"))
	return err == nil && (n.InspectionFinishedAt == nil || at.After(*n.InspectionFinishedAt))
}
