package redfish

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shelf is a controller with six drives of 100 GiB and four SSDs of 50, the
// last two of them a volume.
func shelf() raidController {
	c := raidController{
		id: "RAID.1", volumes: "/v", types: []string{"RAID0", "RAID1", "RAID5", "RAID6", "RAID10", "RAID50"},
	}
	for i := range 10 {
		d := drive{fmt.Sprint("d", i), fmt.Sprint("/d/", i), 100 << 30, "HDD", "SAS"}
		if i >= 6 {
			d.bytes, d.media, d.transport = 50<<30, "SSD", "SATA"
		}
		c.drives = append(c.drives, d)
	}
	c.present = []volume{{"/v/1", "1", "old", "RAID1", 50 << 30, []string{"/d/8", "/d/9"}}}
	return c
}

// describePlan describes a plan in a line.
func describePlan(p raidPlan) string {
	var out []string
	for _, q := range p.remove {
		out = append(out, q.name)
	}
	for _, v := range p.create {
		out = append(out, fmt.Sprintf("%s, %d GiB", v.creation().name, v.disk.bytes>>30))
	}
	return strings.Join(append(out, fmt.Sprint("keep ", p.kept)), "; ")
}

func TestLayOut(t *testing.T) {
	for _, c := range []struct {
		name, disks string
		replace     bool
		want        string
	}{
		{"fewest drives that do", `{"size_gb": 250, "raid_level": "5"}`, false,
			"create RAID5 of d0, d1, d2, d3, 250 GiB; keep 0"},
		{"as many as asked", `{"size_gb": "MAX", "raid_level": "6", "number_of_physical_disks": 6}`, false,
			"create RAID6 of d0, d1, d2, d3, d4, d5, 0 GiB; keep 0"},
		{"kind of drive", `{"size_gb": 10, "raid_level": "1", "disk_type": "ssd", "interface_type": "sata"}`, false,
			"create RAID1 of d6, d7, 10 GiB; keep 0"},
		{"pairs", `{"size_gb": 201, "raid_level": "1+0"}`, false, "create RAID10 of d0, d1, d2, d3, d4, d5, 201 GiB; keep 0"},
		{"two spans", `{"size_gb": 400, "raid_level": "5+0"}`, false,
			"create RAID50 of d0, d1, d2, d3, d4, d5, 400 GiB; keep 0"},
		{"named before chosen",
			`{"size_gb": 10, "raid_level": "1"}, {"size_gb": "MAX", "raid_level": "1", "physical_disks": ["d1", "d0"]}`, false,
			"create RAID1 of d0, d1, 0 GiB; create RAID1 of d2, d3, 10 GiB; keep 0"},
		{"the first gives way to the second", `{"size_gb": 40, "raid_level": "0"}, {"size_gb": 600, "raid_level": "0"}`,
			false,
			"create RAID0 of d6, 40 GiB; create RAID0 of d0, d1, d2, d3, d4, d5, 600 GiB; keep 0"},
		{"there already", `{"size_gb": 50, "raid_level": "1"}`, true, "keep 1"},
		{"there already, by its drives",
			`{"size_gb": "MAX", "raid_level": "1", "physical_disks": ["d9", "d8"], "volume_name": "old"}`, true, "keep 1"},
		{"there under another name",
			`{"size_gb": 50, "raid_level": "1", "volume_name": "new", "physical_disks": ["d8", "d9"]}`, true,
			"delete RAID1 1 (old); create RAID1 of d8, d9, 50 GiB; keep 0"},
		{"there, once", `{"size_gb": 50, "raid_level": "1"}, {"size_gb": 50, "raid_level": "1"}`, true,
			"create RAID1 of d0, d1, 50 GiB; keep 1"},
		{"beside what is there", `{"size_gb": 1, "raid_level": "0", "disk_type": "SSD", "number_of_physical_disks": 2}`,
			false, "create RAID0 of d6, d7, 1 GiB; keep 0"},
		{"in place of what is there", `{"size_gb": 1, "raid_level": "0", "disk_type": "SSD", "number_of_physical_disks": 4}`,
			true,
			"delete RAID1 1 (old); create RAID0 of d6, d7, d8, d9, 1 GiB; keep 0"},
		{"what is there is in the way",
			`{"size_gb": 1, "raid_level": "0", "disk_type": "SSD", "number_of_physical_disks": 4}`, false,
			"no free drives suit it"},
		{"drives that are taken", `{"size_gb": "MAX", "raid_level": "0", "physical_disks": ["d8"]}`, false,
			"d8 (SATA SSD, 50 GiB, taken)"},
		{"level the controller lacks", `{"size_gb": 1, "raid_level": "6+0"}`, true, "no free drives suit it"},
		{"a search without end", strings.Repeat(`{"size_gb": 1, "raid_level": "0"}, `, 8) +
			`{"size_gb": 900, "raid_level": "0"}`, true, "no "},
	} {
		t.Run(c.name, func(t *testing.T) {
			disks, err := logicalDisks(map[string]any{"logical_disks": jsonList(t, c.disks)})
			if err != nil {
				t.Fatal(err)
			}
			p, err := layOut([]raidController{shelf()}, disks, c.replace)
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("got  %v\nwant %s", err, c.want)
				}
				return
			}
			if diff := cmp.Diff(c.want, describePlan(p)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func jsonList(t *testing.T, disks string) []any {
	t.Helper()
	var list []any
	if err := strictly([]byte("["+disks+"]"), &list, "the test's disks"); err != nil {
		t.Fatal(err)
	}
	return list
}

// A plan is a fixed point: made again from its result, it is empty.
func TestLayOutSettles(t *testing.T) {
	for _, config := range []string{
		`{"size_gb": 250, "raid_level": "5"}, {"size_gb": 10, "raid_level": "1"}`,
		`{"size_gb": 10, "raid_level": "1"}, {"size_gb": 10, "raid_level": "1"}, {"size_gb": "MAX", "raid_level": "0", "physical_disks": ["d4"]}`,
	} {
		disks, err := logicalDisks(map[string]any{"logical_disks": jsonList(t, config)})
		if err != nil {
			t.Fatal(err)
		}
		c := shelf()
		p, err := layOut([]raidController{c}, disks, true)
		if err != nil {
			t.Fatal(err)
		}
		c.present = nil
		for i, v := range p.create {
			made := volume{path: fmt.Sprint("/v/", i+2), raidType: v.disk.level.raidType, bytes: v.disk.bytes}
			for _, d := range v.drives {
				made.drives = append(made.drives, d.path)
			}
			c.present = append(c.present, made)
		}
		again, err := layOut([]raidController{c}, disks, true)
		if got := describePlan(again); err != nil || got != fmt.Sprint("keep ", len(disks)) {
			t.Errorf("%s: %s, %v", config, got, err)
		}
	}
}

func TestTaskPath(t *testing.T) {
	for _, c := range []struct{ location, body, want string }{
		{"/mon/1", `{"@odata.id": "/tasks/1", "TaskState": "New"}`, "/tasks/1"},
		{"/mon/1", ``, "/mon/1"},
		{"https://bmc/mon/1", `{"@odata.id": "/volumes/1"}`, "/mon/1"},
		{"", `{}`, ""},
	} {
		if got := taskPath(c.location, []byte(c.body)); got != c.want {
			t.Errorf("%q, %s: got %q, want %q", c.location, c.body, got, c.want)
		}
	}
}
