package node

import (
	"slices"
	"testing"
)

// TestWithDefaults: a default that is chosen comes first, takes nothing away, and is left out where the
// hardware type does not support it.
func TestWithDefaults(t *testing.T) {
	chosen := map[string]string{"inspect": "agent", "boot": "redfish-virtual-media", "power": "ilo", "rescue": ""}
	for name, want := range map[string]map[string]string{
		"redfish": {"inspect": "agent", "boot": "redfish-virtual-media", "power": "redfish", "rescue": "no-rescue"},
		"ipmi":    {"inspect": "agent", "boot": "ipxe", "power": "ipmitool", "deploy": "direct"},
	} {
		before, _ := HardwareTypeByName(name)
		after := before.WithDefaults(chosen)
		for kind, implementation := range want {
			if got := after.Default(kind); got != implementation {
				t.Errorf("%s of %s: %s, want %s", kind, name, got, implementation)
			}
		}
		for kind, all := range before.Interfaces {
			if got := after.Interfaces[kind]; !slices.Equal(slices.Sorted(slices.Values(got)),
				slices.Sorted(slices.Values(all))) {
				t.Errorf("%s of %s: %v, want those of %v", kind, name, got, all)
			}
		}
		again, _ := HardwareTypeByName(name)
		if again.Default("inspect") == "agent" {
			t.Errorf("%s itself has changed: %v", name, again.Interfaces["inspect"])
		}
	}
	if kinds := InterfaceKinds(); len(kinds) != 13 || kinds[0] != "bios" || kinds[12] != "vendor" {
		t.Errorf("kinds: %v", kinds)
	}
}
