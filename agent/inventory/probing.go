package inventory

import (
	"io/fs"
	"slices"
)

// Probing names the storage controllers that may bring up further disks yet: NVMe controllers that are being reset or
// connected, and SCSI hosts that are being made or recover from errors. There is no udev to ask.
func Probing(fsys fs.FS) (all []string) {
	for _, kind := range []struct {
		folder, pending string
		states          []string
	}{
		// drivers/nvme/host/sysfs.c: new, live, resetting, connecting, deleting, "deleting (no IO)", dead
		{"sys/class/nvme", "NVMe controller", []string{"new", "resetting", "connecting"}},
		// drivers/scsi/scsi_sysfs.c: created, running, cancel, deleted, recovery
		{"sys/class/scsi_host", "SCSI host", []string{"created", "recovery"}},
	} {
		for _, name := range names(fsys, kind.folder) {
			if state := text(fsys, kind.folder, name, "state"); slices.Contains(kind.states, state) {
				all = append(all, kind.pending+" "+name+" ("+state+")")
			}
		}
	}
	return all
}
