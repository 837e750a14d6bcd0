package translate

import (
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// TestSameMachine: enrolled nodes write the same BMC in many ways.
func TestSameMachine(t *testing.T) {
	redfish := func(address string, more ...string) node.Node {
		n := node.Node{Driver: "redfish", DriverInfo: map[string]any{"redfish_address": address}}
		for _, system := range more {
			n.DriverInfo["redfish_system_id"] = system
		}
		return n
	}
	ipmi := func(address string, port any) node.Node {
		return node.Node{Driver: "ipmi", DriverInfo: map[string]any{"ipmi_address": address, "ipmi_port": port}}
	}
	const one = "redfish://10.0.0.1/redfish/v1/Systems/1"
	for _, tc := range []struct {
		bmc  string
		n    node.Node
		same bool
	}{
		{one, redfish("https://10.0.0.1", "/redfish/v1/Systems/1"), true},
		{one, redfish("10.0.0.1"), true},
		{one, redfish("https://10.0.0.1:443/", "/redfish/v1/Systems/1/"), true},
		{one, redfish("https://10.0.0.1", "/redfish/v1/Systems/2"), false},
		{one, redfish("https://10.0.0.1:8443"), false},
		{one, redfish("https://10.0.0.2"), false},
		{one, redfish("https://%zz"), false},
		{one, ipmi("10.0.0.1", nil), false},
		{one, node.Node{Driver: "redfish"}, false},
		{"redfish+http://10.0.0.1:8000/redfish/v1/Systems/1", redfish("http://10.0.0.1:8000", "/redfish/v1/Systems/1"), true},
		{"redfish://BMC-1.example", redfish("https://bmc-1.example", "/redfish/v1/Systems/1"), true},
		{"redfish://[2001:db8::1]/redfish/v1/Systems/1", redfish("https://[2001:DB8::1]"), true},
		{"ipmi://10.0.0.1", ipmi("10.0.0.1", nil), true},
		{"ipmi://10.0.0.1", ipmi("10.0.0.1", 623.0), true},
		{"ipmi://10.0.0.1", ipmi("10.0.0.1", "6230"), false},
		{"ipmi://10.0.0.1:6230", ipmi("10.0.0.1", "6230"), true},
		{"ipmi://[2001:db8::1]", ipmi("2001:db8::1", nil), true},
		{"ipmi://bmc-1", ipmi("bmc-1", nil), true},
		{"ipmi://bmc-1:6230", ipmi("BMC-1", 6230), true},
		{"fake://one", node.Node{Driver: "fake-hardware", DriverInfo: map[string]any{"fake_address": "one"}}, true},
		{"nonsense://one", redfish("one"), false},
	} {
		h := hostapi.Host{Spec: hostapi.HostSpec{BMC: hostapi.BMC{Address: tc.bmc}}}
		if got := SameMachine(h, tc.n); got != tc.same {
			t.Errorf("%s and %v: %v", tc.bmc, tc.n.DriverInfo, got)
		}
	}
}
