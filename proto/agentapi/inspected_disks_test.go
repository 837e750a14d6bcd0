package agentapi

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestMissingDisks: disks are recognized by properties that stay the same, and not by their names.
func TestMissingDisks(t *testing.T) {
	const gb = 1 << 30
	disk := func(name, wwn, serial, path string, size int64) Disk {
		return Disk{Name: name, WWN: wwn, Serial: serial, ByPath: path, Size: size, Model: "M"}
	}
	a, b := disk("/dev/sda", "0x1", "A", "", gb), disk("/dev/sdb", "0x2", "B", "", gb)
	for name, tc := range map[string]struct {
		inspected, now []Disk
		missing        string // their names
	}{
		"all there, renamed": {
			[]Disk{a, b}, []Disk{disk("/dev/sdb", "0x1", "A", "", gb), disk("/dev/sda", "0x2", "B", "", gb)}, "",
		},
		"one gone":             {[]Disk{a, b}, []Disk{a}, "/dev/sdb"},
		"another in its place": {[]Disk{a, b}, []Disk{a, disk("/dev/sdb", "0x3", "C", "", gb)}, "/dev/sdb"},
		"all gone":             {[]Disk{a, b}, nil, "/dev/sda /dev/sdb"},
		"one more":             {[]Disk{a}, []Disk{a, b}, ""},
		"never inspected":      {nil, []Disk{a}, ""},
		"two paths, one disk":  {[]Disk{a, disk("/dev/sdc", "0x1", "A", "", gb)}, []Disk{a}, ""},
		"one serial, two WWNs": {
			[]Disk{disk("/dev/nvme0n1", "eui.1", "N", "", gb), disk("/dev/nvme0n2", "eui.2", "N", "", gb)},
			[]Disk{disk("/dev/nvme0n1", "eui.1", "N", "", gb)}, "/dev/nvme0n2",
		},
		"a WWN that one side lacks": {[]Disk{disk("/dev/sda", "", "A", "", gb)}, []Disk{a}, ""},
		"another size, same serial": {
			[]Disk{disk("/dev/vda", "", "A", "", gb)}, []Disk{disk("/dev/vda", "", "A", "", 2*gb)}, "",
		},
		"no identity, as many": {[]Disk{disk("/dev/vda", "", "", "", gb), disk("/dev/vdb", "", "", "", gb)},
			[]Disk{disk("/dev/vdb", "", "", "", gb), disk("/dev/vda", "", "", "", gb)}, ""},
		"no identity, one fewer": {[]Disk{disk("/dev/vda", "", "", "", gb), disk("/dev/vdb", "", "", "", gb)},
			[]Disk{disk("/dev/vda", "", "", "", gb)}, "/dev/vdb"},
		"no identity, other place": {
			[]Disk{disk("/dev/vda", "", "", "/p/1", gb)}, []Disk{disk("/dev/vda", "", "", "/p/2", gb)}, "/dev/vda",
		},
		"arrays and media": {
			[]Disk{disk("/dev/md0", "", "", "", gb), disk("/dev/dm-1", "", "", "", gb), disk("/dev/sr0", "", "", "", gb),
				disk("/dev/sdz", "", "Z", "", 0)}, nil, "",
		},
	} {
		var names []string
		for _, d := range MissingDisks(tc.inspected, tc.now) {
			names = append(names, d.Name)
		}
		if got := strings.Join(names, " "); got != tc.missing {
			t.Errorf("%s: missing %q, want %q", name, got, tc.missing)
		}
	}
}

// FuzzReadInspectedDisks: any input is read or refused, and compared with itself it misses no disk.
func FuzzReadInspectedDisks(f *testing.F) {
	for _, seed := range []string{`[{"name":"/dev/sda","size":1,"serial":"A"}]`, `null`, `{}`, `[1]`,
		`[{"name":"x","size":-1}]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var value any
		if json.Unmarshal(raw, &value) != nil {
			return
		}
		disks, err := ReadInspectedDisks(map[string]any{InspectedDisks: value})
		if err == nil && len(MissingDisks(disks, disks)) > 0 {
			t.Errorf("%s misses %v beside itself", raw, MissingDisks(disks, disks))
		}
	})
}
