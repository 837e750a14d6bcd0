package agentapi

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMergePaths(t *testing.T) {
	disk := func(name string, change func(*Disk)) Disk {
		d := Disk{Name: name, Size: 1 << 40, Model: "ST1200MM0009", Vendor: "SEAGATE", Serial: "WFK1", WWN: "0x5000c500a1",
			WWNWithExtension: "0x5000c500a1", Transport: "sas"}
		if change != nil {
			change(&d)
		}
		return d
	}
	for name, second := range map[string]struct {
		change func(*Disk)
		one    bool
	}{
		"two ports of a SAS drive": {func(*Disk) {}, true},
		"another serial number":    {func(d *Disk) { d.Serial = "WFK2" }, false},
		"another unit of an array": {
			func(d *Disk) { d.WWNWithExtension = "0x5000c500a10000000000000002" }, false,
		},
		"another size":                         {func(d *Disk) { d.Size++ }, false},
		"another model":                        {func(d *Disk) { d.Model = "ST2400" }, false},
		"no world-wide name, as in some cards": {func(d *Disk) { d.WWN, d.WWNWithExtension = "", "" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			disks := []Disk{disk("/dev/sda", nil), disk("/dev/sdb", second.change)}
			merged, left := MergePaths(disks)
			if one := len(merged) == 1 && len(left) == 1; one != second.one || len(merged)+len(left) != 2 {
				t.Errorf("%+v, left %+v", merged, left)
			}
		})
	}
	for _, c := range []struct{ transport, vendor string }{ // cloned firmware: all the same, and two disks
		{"sata", "ATA"}, {"ata", "ATA"}, {"sas", "ATA"}, {"", "ATA"}, {"usb", ""}, {"mmc", ""}, {"virtio", ""},
	} {
		clone := func(d *Disk) { d.Transport, d.Vendor = c.transport, c.vendor }
		if merged, left := MergePaths([]Disk{disk("/dev/sda", clone), disk("/dev/sdb", clone)}); len(merged) != 2 ||
			left != nil {
			t.Errorf("%+v: %+v, left %+v", c, merged, left)
		}
	}
	for name, c := range map[string]func(d *Disk){
		"serial numbers that say nothing":  func(d *Disk) { d.Serial = "0000000000" },
		"world-wide names of zeros":        func(d *Disk) { d.WWN, d.WWNWithExtension = "eui.0000000000000000", "" },
		"names that the kernel has made":   func(d *Disk) { d.WWN, d.WWNWithExtension = "nvme.80ee-5642-00000001", "" },
		"world-wide names of zeros at SAS": func(d *Disk) { d.WWN, d.WWNWithExtension = "0x0000000000000000", "" },
	} {
		if merged, left := MergePaths([]Disk{disk("/dev/sda", c), disk("/dev/sdb", c)}); len(merged) != 2 || left != nil {
			t.Errorf("%s: %+v, left %+v", name, merged, left)
		}
	}
	nothing := func(d *Disk) { d.Serial, d.WWN, d.WWNWithExtension = "", "", "" }
	if merged, _ := MergePaths([]Disk{disk("/dev/sda", nothing), disk("/dev/sdb", nothing)}); len(merged) != 2 {
		t.Errorf("disks that say nothing are one: %+v", merged)
	}
}

// TestMergePathsOnceMore: merged disks stay merged.
func TestMergePathsOnceMore(t *testing.T) {
	path := func(name, hctl string) Disk {
		return Disk{Name: name, HCTL: hctl, Serial: "S", WWN: "uuid.1", Size: 1, Transport: "nvme"}
	}
	once, left := MergePaths([]Disk{path("/dev/a", "0:0:0:0"), {Name: "/dev/x"}, path("/dev/b", "1:0:0:0"),
		path("/dev/c", "2:0:0:0")})
	want := path("/dev/a", "0:0:0:0")
	want.Paths = []DiskPath{{Name: "/dev/b", HCTL: "1:0:0:0"}, {Name: "/dev/c", HCTL: "2:0:0:0"}}
	if diff := cmp.Diff([]Disk{want, {Name: "/dev/x"}}, once); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]SkippedDisk{{"/dev/b", "another path to /dev/a"}, {"/dev/c", "another path to /dev/a"}},
		left); diff != "" {
		t.Error(diff)
	}
	again, left := MergePaths(once)
	if diff := cmp.Diff(once, again); diff != "" || left != nil {
		t.Error(diff, left)
	}
}
