package node

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHardwareDefaults compares with the answer of a real Ironic (21.4) to GET /v1/drivers?detail=True; firmware came
// later.
func TestHardwareDefaults(t *testing.T) {
	for name, want := range map[string]map[string]string{
		"fake-hardware": {
			"bios": "fake", "boot": "fake", "console": "fake", "deploy": "fake", "firmware": "fake", "inspect": "fake",
			"management": "fake", "network": "noop", "power": "fake", "raid": "fake", "rescue": "fake", "storage": "noop",
			"vendor": "fake",
		},
		"redfish": {
			"bios": "redfish", "boot": "ipxe", "console": "no-console", "deploy": "direct", "firmware": "redfish",
			"inspect":    "redfish",
			"management": "redfish", "network": "noop", "power": "redfish", "raid": "redfish", "rescue": "no-rescue",
			"storage": "noop", "vendor": "redfish",
		},
		"ipmi": {
			"bios": "no-bios", "boot": "ipxe", "console": "no-console", "deploy": "direct", "firmware": "no-firmware",
			"inspect":    "no-inspect",
			"management": "ipmitool", "network": "noop", "power": "ipmitool", "raid": "no-raid", "rescue": "no-rescue",
			"storage": "noop", "vendor": "ipmitool",
		},
	} {
		h, ok := HardwareTypeByName(name)
		if !ok {
			t.Errorf("no hardware type %s", name)
			continue
		}
		got := map[string]string{}
		for kind := range h.Interfaces {
			got[kind] = h.Default(kind)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("defaults of %s (-Ironic +ours):\n%s", name, diff)
		}
	}
	if h, ok := HardwareTypeByName("snmp"); ok || h.Default("power") != "" || h.Supports("power", "ilo") {
		t.Errorf("an unknown type is %+v, want nothing", h)
	}
}

// TestFakeHardwareTakesAll: fake-hardware accepts every interface that any type accepts.
func TestFakeHardwareTakesAll(t *testing.T) {
	fake, _ := HardwareTypeByName("fake-hardware")
	for _, h := range HardwareTypes() {
		for _, kind := range slices.Sorted(maps.Keys(h.Interfaces)) {
			for _, name := range h.Interfaces[kind] {
				if !fake.Supports(kind, name) {
					t.Errorf("fake-hardware does not take %s %s of %s", kind, name, h.Name)
				}
			}
		}
	}
}
