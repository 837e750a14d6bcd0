package node

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBMCHosts(t *testing.T) {
	for _, tt := range []struct {
		name string
		info map[string]any
		want []string
	}{
		{"none", nil, nil},
		{"a URL with a path", map[string]any{"redfish_address": "https://10.0.0.1/redfish/v1"}, []string{"10.0.0.1"}},
		{"a URL with a port", map[string]any{"redfish_address": "https://BMC1.example:8443"}, []string{"bmc1.example"}},
		{"IPv6", map[string]any{"redfish_address": "https://[FD00:0::1]:443"}, []string{"fd00::1"}},
		{"IPv6 without a port", map[string]any{"ipmi_address": "fd00::1"}, []string{"fd00::1"}},
		{"two drivers, one BMC", map[string]any{"ipmi_address": "10.0.0.1", "redfish_address": "http://10.0.0.1"},
			[]string{"10.0.0.1"}},
		{"two BMCs", map[string]any{"ipmi_address": "10.0.0.2", "redfish_address": "http://10.0.0.1"},
			[]string{"10.0.0.2", "10.0.0.1"}},
		{"other settings", map[string]any{"ipmi_port": "623", "redfish_address": 7}, nil},
	} {
		n := Node{DriverInfo: tt.info}
		if diff := cmp.Diff(tt.want, n.BMCHosts()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestBMCSetting(t *testing.T) {
	for _, tt := range []struct{ driver, address, key, value string }{
		{"redfish", "10.0.0.1", "redfish_address", "https://10.0.0.1"},
		{"redfish", "fd00::1", "redfish_address", "https://[fd00::1]"},
		{"ipmi", "fd00::1", "ipmi_address", "fd00::1"},
		{"fake-hardware", "10.0.0.1", "", ""},
	} {
		key, value, ok := BMCSetting(tt.driver, netip.MustParseAddr(tt.address))
		if key != tt.key || value != tt.value || ok != (tt.key != "") {
			t.Errorf("%s at %s: %s=%s, %v", tt.driver, tt.address, key, value, ok)
		}
	}
}
