package node

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestToldBounded: a BMC that names another component each time is not listened
// to for ever.
func TestToldBounded(t *testing.T) {
	var told Told
	for i := range 3000 {
		told, _ = told.Update(Told{Firmware: []FirmwareComponent{{Component: fmt.Sprint("nic:", i)}}}, time.Unix(1, 0))
	}
	if n := len(told.Firmware); n != maxComponents {
		t.Errorf("%d components are kept, want %d", n, maxComponents)
	}
}

func TestToldUpdate(t *testing.T) {
	on, off := "Enabled", "Disabled"
	one, two := time.Unix(1, 0).UTC(), time.Unix(2, 0).UTC()
	before := Told{
		BIOS:     []BIOSSetting{{Name: "B", Value: &on, CreatedAt: one}, {Name: "C", Value: &on, CreatedAt: one}},
		Firmware: []FirmwareComponent{{Component: "bios", InitialVersion: "1", CurrentVersion: "1", CreatedAt: one}},
	}
	for _, c := range []struct {
		name    string
		now     Told
		want    Told
		changed bool
	}{
		{"nothing told", Told{}, before, false},
		{"the same", Told{[]BIOSSetting{{Name: "C", Value: &on}, {Name: "B", Value: &on}}, []FirmwareComponent{{Component: "bios", CurrentVersion: "1"}}}, before, false},
		{"a setting gone", Told{BIOS: []BIOSSetting{{Name: "B", Value: &on}}}, Told{before.BIOS[:1], before.Firmware}, true},
		{"all settings gone", Told{BIOS: []BIOSSetting{}}, Told{[]BIOSSetting{}, before.Firmware}, true},
		{
			"a setting changed, one new", Told{BIOS: []BIOSSetting{{Name: "C", Value: &off}, {Name: "A"}, {Name: "B", Value: &on}}},
			Told{[]BIOSSetting{{Name: "A", CreatedAt: two}, before.BIOS[0], {Name: "C", Value: &off, CreatedAt: one, UpdatedAt: two}}, before.Firmware}, true,
		},
		{
			"flashed, and a card seen", Told{Firmware: []FirmwareComponent{{Component: "nic:1", CurrentVersion: "7", Vendor: "V"}, {Component: "bios", CurrentVersion: "2"}}},
			Told{before.BIOS, []FirmwareComponent{
				{Component: "bios", InitialVersion: "1", CurrentVersion: "2", LastVersionFlashed: "2", CreatedAt: one, UpdatedAt: two},
				{Component: "nic:1", InitialVersion: "7", CurrentVersion: "7", Vendor: "V", CreatedAt: two},
			}}, true,
		},
		{
			"a card known better", Told{Firmware: []FirmwareComponent{{Component: "bios", CurrentVersion: "1", Model: "M"}}},
			Told{before.BIOS, []FirmwareComponent{{Component: "bios", InitialVersion: "1", CurrentVersion: "1", Model: "M", CreatedAt: one, UpdatedAt: two}}}, true,
		},
	} {
		got, changed := before.Update(c.now, two)
		if diff := cmp.Diff(c.want, got); diff != "" || changed != c.changed {
			t.Errorf("%s: changed %v, want %v; -want +got:\n%s", c.name, changed, c.changed, diff)
		}
	}
}
