package qemu

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlanStart(t *testing.T) {
	spec := Spec{Disks: make([]Disk, 2), NICs: make([]NIC, 2)}
	http := spec
	http.HTTPBoot = true
	override := func(target Target, enabled Enabled) Boot {
		return Boot{Target: target, Enabled: enabled, Firmware: UEFI}
	}
	legacy := Boot{Target: TargetPxe, Enabled: Once, Firmware: BIOS}
	tests := []struct {
		name  string
		spec  Spec
		boot  Boot
		media string
		order []string
		http  bool
	}{
		{"no override: disk, then network", spec, override(TargetNone, Disabled), "",
			[]string{"disk0", "disk1", "nic0", "nic1"}, false},
		{"media last", spec, override(TargetNone, Disabled), "x.iso",
			[]string{"disk0", "disk1", "nic0", "nic1", "cd0"}, false},
		{"pxe once", spec, override(TargetPxe, Once), "", []string{"nic0", "nic1", "disk0", "disk1"}, false},
		{"pxe continuous", spec, override(TargetPxe, Continuous), "", []string{"nic0", "nic1", "disk0", "disk1"}, false},
		{"pxe but disabled", spec, override(TargetPxe, Disabled), "", []string{"disk0", "disk1", "nic0", "nic1"}, false},
		{"disk", spec, override(TargetHdd, Once), "x.iso", []string{"disk0", "disk1", "nic0", "nic1", "cd0"}, false},
		{"cd", spec, override(TargetCd, Once), "x.iso", []string{"cd0", "disk0", "disk1", "nic0", "nic1"}, false},
		{"cd without media falls through", spec, override(TargetCd, Once), "",
			[]string{"disk0", "disk1", "nic0", "nic1"}, false},
		{"uefi http", spec, override(TargetUefiHTTP, Once), "", []string{"nic0", "nic1", "disk0", "disk1"}, true},
		{"http always", http, override(TargetNone, Disabled), "", []string{"disk0", "disk1", "nic0", "nic1"}, true},
		{"http always, but not in legacy mode", http, legacy, "", []string{"nic0", "nic1", "disk0", "disk1"}, false},
		{"bare machine", Spec{}, override(TargetPxe, Once), "", nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := Start{Firmware: tt.boot.Firmware, Order: tt.order, HTTP: tt.http, Media: tt.media}
			if diff := cmp.Diff(want, planStart(tt.spec, tt.boot, tt.media)); diff != "" {
				t.Errorf("start (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBootAfter(t *testing.T) {
	cleared := Boot{TargetNone, Disabled, UEFI}
	for _, tt := range []struct{ in, want Boot }{
		{Boot{TargetPxe, Once, UEFI}, cleared},
		{Boot{TargetPxe, Continuous, UEFI}, Boot{TargetPxe, Continuous, UEFI}},
		{cleared, cleared},
	} {
		if diff := cmp.Diff(tt.want, tt.in.after()); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.in, diff)
		}
	}
}

func TestSetBoot(t *testing.T) {
	tests := []struct {
		name string
		in   Boot
		want Boot
		ok   bool
	}{
		{"pxe once", Boot{TargetPxe, Once, UEFI}, Boot{TargetPxe, Once, UEFI}, true},
		{"to legacy", Boot{TargetNone, Disabled, BIOS}, Boot{TargetNone, Disabled, BIOS}, true},
		{"none clears", Boot{TargetNone, Continuous, UEFI}, Boot{TargetNone, Disabled, UEFI}, true},
		{"disabled clears", Boot{TargetHdd, Disabled, UEFI}, Boot{TargetNone, Disabled, UEFI}, true},
		{"http in legacy mode", Boot{TargetUefiHTTP, Once, BIOS}, Boot{}, false},
		{"unknown target", Boot{"Usb", Once, UEFI}, Boot{}, false},
		{"unknown lifetime", Boot{TargetPxe, "Twice", UEFI}, Boot{}, false},
		{"unknown firmware", Boot{TargetPxe, Once, "coreboot"}, Boot{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := quiet(t, Spec{Name: "m"})
			before := m.Boot()
			err := m.SetBoot(tt.in)
			if (err == nil) != tt.ok {
				t.Fatalf("error %v, expected ok %v", err, tt.ok)
			}
			want := tt.want
			if !tt.ok {
				want = before
			}
			if diff := cmp.Diff(want, m.Boot()); diff != "" {
				t.Errorf("boot (-want +got):\n%s", diff)
			}
		})
	}
}
