package node

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestHardwareReportBounded: a BMC that names another component each time is not listened
// to for ever.
func TestHardwareReportBounded(t *testing.T) {
	var report HardwareReport
	for i := range 3000 {
		report, _ = report.Update(HardwareReport{Firmware: []FirmwareComponent{{Component: fmt.Sprint("nic:", i)}}},
			time.Unix(1, 0))
	}
	if n := len(report.Firmware); n != maxComponents {
		t.Errorf("%d components are kept, want %d", n, maxComponents)
	}
}

func TestHardwareReportUpdate(t *testing.T) {
	on, off := "Enabled", "Disabled"
	one, two := time.Unix(1, 0).UTC(), time.Unix(2, 0).UTC()
	before := HardwareReport{
		BIOS:     []BIOSSetting{{Name: "B", Value: &on, CreatedAt: one}, {Name: "C", Value: &on, CreatedAt: one}},
		Firmware: []FirmwareComponent{{Component: "bios", InitialVersion: "1", CurrentVersion: "1", CreatedAt: one}},
	}
	for _, c := range []struct {
		name    string
		now     HardwareReport
		want    HardwareReport
		changed bool
	}{
		{"nothing told", HardwareReport{}, before, false},
		{"the same", HardwareReport{BIOS: []BIOSSetting{{Name: "C", Value: &on}, {Name: "B", Value: &on}},
			Firmware: []FirmwareComponent{{Component: "bios", CurrentVersion: "1"}}}, before, false},
		{"a setting gone", HardwareReport{BIOS: []BIOSSetting{{Name: "B", Value: &on}}},
			HardwareReport{BIOS: before.BIOS[:1], Firmware: before.Firmware}, true},
		{"all settings gone", HardwareReport{BIOS: []BIOSSetting{}},
			HardwareReport{BIOS: []BIOSSetting{}, Firmware: before.Firmware}, true},
		{
			"a setting changed, one new",
			HardwareReport{BIOS: []BIOSSetting{{Name: "C", Value: &off}, {Name: "A"}, {Name: "B", Value: &on}}},
			HardwareReport{
				BIOS: []BIOSSetting{{Name: "A", CreatedAt: two}, before.BIOS[0],
					{Name: "C", Value: &off, CreatedAt: one, UpdatedAt: two}}, Firmware: before.Firmware,
			}, true,
		},
		{
			"flashed, and a card seen",
			HardwareReport{Firmware: []FirmwareComponent{{Component: "nic:1", CurrentVersion: "7", Vendor: "V"},
				{Component: "bios", CurrentVersion: "2"}}},
			HardwareReport{BIOS: before.BIOS, Firmware: []FirmwareComponent{
				{Component: "bios", InitialVersion: "1", CurrentVersion: "2", LastVersionFlashed: "2", CreatedAt: one,
					UpdatedAt: two},
				{Component: "nic:1", InitialVersion: "7", CurrentVersion: "7", Vendor: "V", CreatedAt: two},
			}}, true,
		},
		{
			"a card known better",
			HardwareReport{Firmware: []FirmwareComponent{{Component: "bios", CurrentVersion: "1", Model: "M"}}},
			HardwareReport{BIOS: before.BIOS,
				Firmware: []FirmwareComponent{{Component: "bios", InitialVersion: "1", CurrentVersion: "1", Model: "M",
					CreatedAt: one,
					UpdatedAt: two}}}, true,
		},
	} {
		got, changed := before.Update(c.now, two)
		if diff := cmp.Diff(c.want, got); diff != "" || changed != c.changed {
			t.Errorf("%s: changed %v, want %v; -want +got:\n%s", c.name, changed, c.changed, diff)
		}
	}
}

// TestReportIsBounded: a BMC may report values of any length, and the lists of the API have no pages.
func TestReportIsBounded(t *testing.T) {
	long := strings.Repeat("x", 600<<10)
	now := HardwareReport{}
	for i := range 5 {
		now.BIOS = append(now.BIOS, BIOSSetting{Name: strconv.Itoa(i), Value: &long})
		now.Firmware = append(now.Firmware, FirmwareComponent{Component: strconv.Itoa(i), CurrentVersion: long})
	}
	kept, _ := HardwareReport{}.Update(now, time.Unix(1, 0))
	if len(kept.BIOS) != 3 || len(kept.Firmware) != 5 || len(kept.Firmware[4].CurrentVersion) != maxComponentText {
		t.Errorf("%d settings and %d components of 600 KiB each are kept", len(kept.BIOS), len(kept.Firmware))
	}
	if _, changed := kept.Update(now, time.Unix(2, 0)); changed {
		t.Error("the same report is a change")
	}
}
