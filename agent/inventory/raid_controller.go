package inventory

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/placeholder"
)

// hiding is how a driver of RAID controllers hides physical disks.
type hiding struct {
	driver string // sys/class/scsi_host/X/proc_name
	always bool
	volume func(fsys fs.FS, folder string) bool // of sys/block/X; nil with always
}

// hidingDrivers are drivers of RAID controllers that show their volumes and hide the physical disks behind them, spare
// and unused ones among them. always marks controllers that never show all disks; the others do as plain host
// adapters, and hide disks where they have a volume.
var hidingDrivers = []hiding{
	{driver: "megaraid_sas", always: true}, // PERC, MegaRAID: JBOD disks are shown, unconfigured ones are not
	{driver: "megaraid_mbox", always: true},
	{driver: "aacraid", always: true},
	{driver: "arcmsr", always: true},
	{driver: "3w-9xxx", always: true},
	{driver: "3w-sas", always: true},
	{driver: "ips", always: true},
	{driver: "mpt2sas", volume: logicalVolume},
	{driver: "mpt3sas", volume: logicalVolume},
	{driver: "mptsas", volume: logicalVolume},
	{driver: "mpi3mr", volume: logicalVolume},
	{driver: "hpsa", volume: raidLevel},
	{driver: "smartpqi", volume: raidLevel},
}

// logicalVolume recognises a volume of LSI's integrated RAID by its INQUIRY data.
func logicalVolume(fsys fs.FS, folder string) bool {
	return strings.EqualFold(text(fsys, folder, "device/model"), "Logical Volume")
}

// raidLevel recognises a volume by the attribute of hpsa and smartpqi, which physical disks have as "N/A".
func raidLevel(fsys fs.FS, folder string) bool {
	return placeholder.Text(text(fsys, folder, "device/raid_level")) != ""
}

// HiddenDisks names the RAID controllers behind which there may be physical disks that nothing on this machine can
// reach, and why, as if each were a disk that is left out.
func HiddenDisks(fsys fs.FS) (all []agentapi.SkippedDisk) {
	for _, host := range names(fsys, "sys/class/scsi_host") {
		folder := path.Join("sys/class/scsi_host", host)
		driver := text(fsys, folder, "proc_name")
		i := slices.IndexFunc(hidingDrivers, func(h hiding) bool { return h.driver == driver })
		if i < 0 {
			continue
		}
		by := hidingDrivers[i]
		volumes := []string{}
		for _, name := range names(fsys, "sys/block") {
			block := path.Join("sys/block", name)
			onHost := slices.Contains(strings.Split(linkOf(fsys, block), "/"), host)
			if onHost && (by.always || by.volume(fsys, block)) {
				volumes = append(volumes, "/dev/"+name)
			}
		}
		if !by.always && len(volumes) == 0 {
			continue
		}
		shown := "it shows no disk"
		if len(volumes) > 0 {
			shown = "it shows " + strings.Join(volumes, ", ")
		}
		name := "RAID controller " + host
		if pci := pciAddress(linkOf(fsys, folder)); pci != "" {
			name = "RAID controller " + pci
		}
		all = append(all, agentapi.SkippedDisk{Name: name, Reason: fmt.Sprintf("not reached: the physical disks behind this "+
			"controller (%s) that are spare or in no volume; %s", driver, shown)})
	}
	return all
}
