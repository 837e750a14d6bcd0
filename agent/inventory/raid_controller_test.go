package inventory

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// scsiHost adds a SCSI host with one disk to a tree. attributes are files below the disk's device.
func scsiHost(t *testing.T, tree fstest.MapFS, host, driver, disk string, attributes ...string) {
	t.Helper()
	folder := "sys/devices/pci0000:00/0000:00:01.0/0000:0" + host[len("host"):] + ":00.0/" + host
	lines := []string{
		"sys/class/scsi_host/" + host + " -> ../../" + strings.TrimPrefix(folder, "sys/") + "/scsi_host/" + host,
		folder + "/scsi_host/" + host + `/proc_name = "` + driver + `\n"`,
	}
	if disk != "" {
		device := folder + "/target/0:0:0:0"
		lines = append(lines, "sys/block/"+disk+" -> ../"+strings.TrimPrefix(device, "sys/")+"/block/"+disk,
			device+"/block/"+disk+"/device -> ../../../0:0:0:0", device+"/block/"+disk+`/size = "2048\n"`)
		for _, a := range attributes {
			lines = append(lines, device+"/"+a)
		}
	}
	fill(t, tree, strings.Join(append(lines, ""), "\n"))
}

// TestHiddenDisks: controllers that hide physical disks are named, and plain host adapters are not.
func TestHiddenDisks(t *testing.T) {
	tree := fstest.MapFS{}
	scsiHost(t, tree, "host1", "megaraid_sas", "sda", `model = "PERC H730P Mini\n"`)
	scsiHost(t, tree, "host2", "megaraid_sas", "")
	scsiHost(t, tree, "host3", "mpt3sas", "sdb", `model = "ST4000NM0023\n"`) // a host adapter
	scsiHost(t, tree, "host4", "mpt3sas", "sdc", `model = "Logical Volume\n"`)
	scsiHost(t, tree, "host5", "smartpqi", "sdd", `raid_level = "RAID 1(1+0)\n"`)
	scsiHost(t, tree, "host6", "hpsa", "sde", `raid_level = "N/A\n"`) // in HBA mode
	scsiHost(t, tree, "host7", "ahci", "sdf", `model = "INTEL SSD\n"`)
	scsiHost(t, tree, "host8", "aacraid", "sdg")
	reason := func(driver, shown string) string {
		return "not reached: the physical disks behind this controller (" + driver +
			") that are spare or in no volume; " + shown
	}
	want := []agentapi.SkippedDisk{
		{Name: "RAID controller 0000:01:00.0", Reason: reason("megaraid_sas", "it shows /dev/sda")},
		{Name: "RAID controller 0000:02:00.0", Reason: reason("megaraid_sas", "it shows no disk")},
		{Name: "RAID controller 0000:04:00.0", Reason: reason("mpt3sas", "it shows /dev/sdc")},
		{Name: "RAID controller 0000:05:00.0", Reason: reason("smartpqi", "it shows /dev/sdd")},
		{Name: "RAID controller 0000:08:00.0", Reason: reason("aacraid", "it shows /dev/sdg")},
	}
	if d := cmp.Diff(want, HiddenDisks(tree)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if got := HiddenDisks(fstest.MapFS{}); got != nil {
		t.Errorf("of a machine without controllers: %v", got)
	}
}
