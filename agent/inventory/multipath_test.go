package inventory

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// onSAS makes a disk on a SAS port of its own.
func onSAS(t *testing.T, tree fstest.MapFS, name, port, wwid string, files string) {
	t.Helper()
	device := "sys/devices/pci0000:00/0000:03:00.0/host0/port-0:" + port + "/end_device-0:" + port + "/target0:0:" + port +
		"/0:0:" + port + ":0/"
	fill(t, tree, "sys/block/"+name+" -> ../devices/pci0000:00/0000:03:00.0/host0/port-0:"+port+"/end_device-0:"+port+
		"/target0:0:"+port+"/0:0:"+port+":0/block/"+name+"\n"+
		device+"block/"+name+"/device -> ../../../0:0:"+port+":0\n"+
		device+"subsystem -> /sys/bus/scsi\n"+device+"type = \"0\\n\"\n"+
		device+"block/"+name+"/size = \"2048\\n\"\n"+device+"model = \"ST1200MM0009\\n\"\n"+device+"wwid = \""+wwid+"\\n\"\n"+
		device+"vpd_pg80 = \"\\x00\\x80\\x00\\x04WFK1\"\n")
	if files != "" {
		fill(t, tree, device+files+"\n")
	}
}

// TestMultipath: a disk with two ports is one disk, by its better path, and all
// of it is in use when one path of it is.
func TestMultipath(t *testing.T) {
	const drive, other = "naa.5000c500a1", "naa.5000c500b2"
	for name, c := range map[string]struct {
		first, second string // the kernel's data of each path beside the disk's own
		wwid          string // by the second path
		disks         []string
		left          map[string]string
	}{
		"as good": {"", "", drive, []string{"/dev/sda"},
			map[string]string{"/dev/sdb": "another path to /dev/sda"}},
		"the first is off": {`state = "offline\n"`, `state = "running\n"`, drive, []string{"/dev/sdb"},
			map[string]string{"/dev/sda": "another path to /dev/sdb"}},
		"the second is off": {`state = "running\n"`, `state = "transport-offline\n"`, drive, []string{"/dev/sda"},
			map[string]string{"/dev/sdb": "another path to /dev/sda"}},
		"the second is best": {`access_state = "active/non-optimized\n"`, `access_state = "active/optimized\n"`, drive,
			[]string{"/dev/sdb"}, map[string]string{"/dev/sda": "another path to /dev/sdb"}},
		"the first stands by": {`access_state = "standby\n"`, `access_state = "active/non-optimized\n"`, drive,
			[]string{"/dev/sdb"}, map[string]string{"/dev/sda": "another path to /dev/sdb"}},
		"in use by the second": {"", `block/sdb/holders/md0/md/level = "raid1\n"`, drive, nil,
			map[string]string{"/dev/sda": "another path to /dev/sdb", "/dev/sdb": "member of md0"}},
		"two disks": {"", "", other, []string{"/dev/sda", "/dev/sdb"}, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{}
			onSAS(t, tree, "sda", "1", drive, c.first)
			onSAS(t, tree, "sdb", "2", c.wwid, c.second)
			disks, skipped := Disks(tree)
			var found []string
			for _, d := range disks {
				found = append(found, d.Name)
			}
			left := map[string]string{}
			for _, s := range skipped {
				left[s.Name] = s.Reason
			}
			if diff := cmp.Diff(c.disks, found) + cmp.Diff(c.left, left); diff != "" {
				t.Error(diff)
			}
		})
	}
	tree := fstest.MapFS{}
	onSAS(t, tree, "sda", "1", drive, "")
	onSAS(t, tree, "sdb", "2", drive, "")
	disks, _ := Disks(tree)
	if diff := cmp.Diff([]agentapi.DiskPath{{Name: "/dev/sdb", HCTL: "0:0:2:0"}}, disks[0].Paths); diff != "" {
		t.Error(diff)
	}
}
