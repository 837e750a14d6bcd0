package driverinfo_test

import (
	"fmt"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc/driverinfo"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

func TestRead(t *testing.T) {
	text := func(n node.Node) (any, error) { return driverinfo.Text(n, "k") }
	required := func(n node.Node) (any, error) { return driverinfo.Required(n, "k", "something") }
	number := func(n node.Node) (any, error) { return driverinfo.Number(n, "k", 7) }
	boolean := func(n node.Node) (any, error) { return driverinfo.Bool(n, "k", true) }
	authorities := func(n node.Node) (any, error) { return driverinfo.Authorities(n, "k") }
	for _, c := range []struct {
		read func(n node.Node) (any, error)
		v    any
		want string
	}{
		{text, nil, ""},
		{text, "x", "x"},
		{text, 1.0, "driver_info: k must be a string, not float64"},
		{required, "x", "x"},
		{required, nil, "driver_info: k is missing: set it to something"},
		{required, "", "driver_info: k is missing: set it to something"},
		{number, nil, "7"},
		{number, "", "7"},
		{number, 5, "5"},
		{number, 5.0, "5"},
		{number, "5", "5"},
		{number, 5.5, "driver_info: k must be a whole number, not 5.5"},
		{number, 1e300, "driver_info: k must be a whole number, not 1e+300"},
		{number, "five", "driver_info: k must be a whole number, not five"},
		{number, true, "driver_info: k must be a whole number, not true"},
		{boolean, nil, "true"},
		{boolean, false, "false"},
		{boolean, "Off", "false"},
		{boolean, "y", "true"},
		{boolean, "", "driver_info: k must be true or false, not "},
		{authorities, nil, "true"},
		{authorities, false, "false"},
		{authorities, "Yes", "true"},
		{authorities, "/etc/ca/bmc.pem", "/etc/ca/bmc.pem"}, // whether there is such a file is not its matter
		{authorities, "-----BEGIN CERTIFICATE-----", "driver_info: k holds no PEM certificate (-----BEGIN CERTIFICATE-----)"},
		{authorities, "", "driver_info: k must be true, false, PEM text, or the path of a file in --ca-folder"},
		{authorities, 1.0, "driver_info: k must be true, false, PEM text, or the path of a file in --ca-folder, not float64"},
		{boolean, 1.0, "driver_info: k must be true or false, not 1"},
	} {
		v, err := c.read(node.Node{DriverInfo: map[string]any{"k": c.v}})
		got := fmt.Sprint(v)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: got %q, want %q", c.v, got, c.want)
		}
	}
}

func TestCheckForm(t *testing.T) {
	for _, c := range []struct {
		info map[string]any
		ok   bool
	}{
		{nil, true},
		{map[string]any{"redfish_verify_ca": false, "agent_verify_ca": "ca.pem"}, true},
		{map[string]any{"redfish_verify_ca": 1.0}, false},
		{map[string]any{"agent_verify_ca": "-----BEGIN nonsense"}, false},
		{map[string]any{driverinfo.MinimumKey: "1.3", driverinfo.PrefixKey: "/bmc/redfish/v1/"}, true},
		{map[string]any{driverinfo.MinimumKey: "1.2", driverinfo.CiphersKey: "ECDHE-RSA-AES256-GCM-SHA384"}, true},
		{map[string]any{driverinfo.MinimumKey: "1.0"}, false},
		{map[string]any{driverinfo.MinimumKey: 1.2}, false},
		{map[string]any{driverinfo.CiphersKey: "HIGH"}, false},
		{map[string]any{driverinfo.CiphersKey: []any{"AES128-SHA"}}, false},
		{map[string]any{driverinfo.PrefixKey: "redfish/v1"}, false},
		{map[string]any{driverinfo.PrefixKey: "/redfish/../v1"}, false},
		{map[string]any{driverinfo.PrefixKey: "/redfish/v1?x=1"}, false},
		{map[string]any{driverinfo.PrefixKey: "//host/redfish"}, false},
		{map[string]any{driverinfo.PrefixKey: "/"}, false},
		{map[string]any{driverinfo.PrefixKey: true}, false},
		{map[string]any{driverinfo.SilentKey: "600"}, true},
		{map[string]any{driverinfo.SilentKey: -1.0}, false},
		{map[string]any{driverinfo.SilentKey: 1e6}, false},
		{map[string]any{driverinfo.SilentKey: "soon"}, false},
	} {
		if err := driverinfo.CheckForm(node.Node{DriverInfo: c.info}); (err == nil) != c.ok {
			t.Errorf("%v: %v, want taken %v", c.info, err, c.ok)
		}
	}
}
