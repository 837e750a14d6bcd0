package node

import "testing"

// TestSameMachine: one machine is recognised in all the ways to write its address, and two systems of one BMC, or
// two BMCs behind one address, are two machines.
func TestSameMachine(t *testing.T) {
	redfish := func(address, system string) Node {
		n := Node{Driver: "redfish", DriverInfo: map[string]any{"redfish_address": address}}
		if system != "" {
			n.DriverInfo["redfish_system_id"] = system
		}
		return n
	}
	ipmi := func(address string, port any) Node {
		n := Node{Driver: "ipmi", DriverInfo: map[string]any{"ipmi_address": address}}
		if port != nil {
			n.DriverInfo["ipmi_port"] = port
		}
		return n
	}
	const one, two = "/redfish/v1/Systems/1", "/redfish/v1/Systems/2"
	for _, tc := range []struct {
		a, b Node
		same bool
	}{
		{redfish("https://10.0.0.7", one), redfish("10.0.0.7", one+"/"), true},
		{redfish("https://10.0.0.7", one), redfish("https://10.0.0.7:443/", one), true},
		{redfish("https://BMC.example", one), redfish("https://bmc.example/redfish/v1", one), true},
		{redfish("https://[fd00:0::7]", one), redfish("https://[fd00::7]:443", one), true},
		{redfish("https://10.0.0.7", ""), redfish("https://10.0.0.7", two), true},
		{redfish("https://10.0.0.7", one), redfish("https://10.0.0.7", two), false},
		{redfish("http://10.0.0.7:8001", one), redfish("http://10.0.0.7:8002", one), false},
		{redfish("http://10.0.0.7", one), redfish("https://10.0.0.7", one), false},
		{redfish("https://10.0.0.7", one), redfish("https://10.0.0.8", one), false},
		{redfish("https://10.0.0.7/bmc1/", one), redfish("https://10.0.0.7/bmc2", one), false},
		{ipmi("10.0.0.7", nil), ipmi("10.0.0.7", 623.0), true},
		{ipmi("10.0.0.7", "6230"), ipmi("10.0.0.7", 6230), true},
		{ipmi("fd00::7", nil), ipmi("FD00:0:0::7", nil), true},
		{ipmi("10.0.0.7", 6230), ipmi("10.0.0.7", 6231), false},
		{ipmi("10.0.0.7", nil), redfish("10.0.0.7", ""), false},
	} {
		a, okA := tc.a.Machine()
		b, okB := tc.b.Machine()
		if !okA || !okB || a.Same(b) != tc.same || b.Same(a) != tc.same {
			t.Errorf("%+v and %+v: same is %v, want %v", a, b, a.Same(b), tc.same)
		}
	}
	for _, n := range []Node{redfish("", ""), redfish("https://", ""), ipmi("", nil),
		{Driver: "fake-hardware", DriverInfo: map[string]any{"redfish_address": "https://10.0.0.7"}}} {
		if m, ok := n.Machine(); ok {
			t.Errorf("%v names the machine %+v", n.DriverInfo, m)
		}
	}
}
