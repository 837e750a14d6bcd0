package node_test

import (
	"slices"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestVendorInterfaces: every name that a vendor's hardware type adds stands for an interface of redfish, so that no
// name lacks an implementation.
func TestVendorInterfaces(t *testing.T) {
	redfish, _ := node.HardwareTypeByName("redfish")
	for _, name := range node.VendorTypes() {
		hw, ok := node.HardwareTypeByName(name)
		if !ok || node.BaseType(name) != "redfish" {
			t.Fatalf("%s is no hardware type (%v), or one of %q", name, ok, node.BaseType(name))
		}
		for kind, names := range hw.Interfaces {
			for _, i := range names {
				n := node.Node{Driver: name, Interfaces: map[string]string{kind: i}}
				if base := n.Implementation(kind); !slices.Contains(redfish.Interfaces[kind], base) {
					t.Errorf("%s: %s interface %s stands for %q, which redfish does not have", name, kind, i, base)
				}
			}
			if len(names) < len(redfish.Interfaces[kind]) {
				t.Errorf("%s has %v for %s, fewer than redfish", name, names, kind)
			}
		}
	}
}

func TestVendorDefaults(t *testing.T) {
	for _, tt := range []struct{ hardware, kind, want string }{
		{"idrac", "power", "idrac-redfish"}, {"idrac", "boot", "ipxe"}, {"idrac", "deploy", "direct"},
		{"idrac", "raid", "idrac-redfish"}, {"ilo", "management", "ilo"}, {"ilo", "raid", "redfish"},
		{"ilo5", "management", "ilo5"}, {"ilo5", "raid", "ilo5"}, {"irmc", "power", "irmc"},
		{"xclarity", "power", "xclarity"}, {"xclarity", "inspect", "redfish"},
		{"manual-management", "power", "agent"}, {"manual-management", "management", "noop"},
	} {
		hw, _ := node.HardwareTypeByName(tt.hardware)
		if got := hw.Default(tt.kind); got != tt.want {
			t.Errorf("%s has %s interface %q, want %q", tt.hardware, tt.kind, got, tt.want)
		}
	}
}

// The keys of driver_info that an inventory has for its vendor are read where redfish's are
// missing, and name the same machine.
func TestVendorSettings(t *testing.T) {
	for name, tt := range map[string]struct {
		driver string
		info   map[string]any
		key    string // written for redfish_address
		want   node.Machine
	}{
		"its own": {"ilo5", map[string]any{"ilo_address": "10.0.0.5"}, "ilo_address",
			node.Machine{Driver: "redfish", Endpoint: "10.0.0.5:443"}},
		"redfish's first": {"ilo", map[string]any{"ilo_address": "10.0.0.5", "redfish_address": "10.0.0.6"},
			"redfish_address",
			node.Machine{Driver: "redfish", Endpoint: "10.0.0.6:443"}},
		"as Ironic has it": {"idrac", map[string]any{"redfish_address": "https://10.0.0.7"}, "redfish_address",
			node.Machine{Driver: "redfish", Endpoint: "10.0.0.7:443"}},
		"of before": {"idrac", map[string]any{"drac_address": "10.0.0.7"}, "drac_address",
			node.Machine{Driver: "redfish", Endpoint: "10.0.0.7:443"}},
		"of another vendor": {"irmc", map[string]any{"ilo_address": "10.0.0.5"}, "redfish_address", node.Machine{}},
		"of no vendor":      {"redfish", map[string]any{"ilo_address": "10.0.0.5"}, "redfish_address", node.Machine{}},
		"manual-management": {"manual-management", map[string]any{"redfish_address": "10.0.0.5"}, "redfish_address",
			node.Machine{}},
	} {
		t.Run(name, func(t *testing.T) {
			n := node.Node{Driver: tt.driver, DriverInfo: tt.info}
			if key, _ := n.BMCSettingOf("redfish_address"); key != tt.key {
				t.Errorf("the address is in %q, want %q", key, tt.key)
			}
			got, ok := n.Machine()
			if ok != (tt.want.Endpoint != "") || ok && got != tt.want {
				t.Errorf("the machine is %+v (%v), want %+v", got, ok, tt.want)
			}
		})
	}
}
