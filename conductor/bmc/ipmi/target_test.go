package ipmi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc/ipmi"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

func TestValidate(t *testing.T) {
	d := ipmi.New(ipmi.Options{})
	for _, c := range []struct {
		key  string
		v    any
		want string // in the error; "" for none
	}{
		{"ipmi_address", "bmc.example", ""},
		{"ipmi_address", "fd00::1", ""},
		{"ipmi_address", nil, "ipmi_address is missing"},
		{"ipmi_address", "", "ipmi_address is missing"},
		{"ipmi_address", 5.0, "ipmi_address must be a string, not float64"},
		{"ipmi_address", "https://10.0.0.1", "must be a host name or an address"},
		{"ipmi_address", "admin:secret@10.0.0.1", "must be a host name or an address"},
		{"ipmi_port", 6230.0, ""},
		{"ipmi_port", "6230", ""},
		{"ipmi_port", "", ""},
		{"ipmi_port", "http", "ipmi_port must be a whole number, not http"},
		{"ipmi_port", 623.5, "ipmi_port must be a whole number, not 623.5"},
		{"ipmi_port", 0, "ipmi_port must be a UDP port from 1 to 65535, not 0"},
		{"ipmi_port", 70000.0, "must be a UDP port from 1 to 65535, not 70000"},
		{"ipmi_username", nil, ""},
		{"ipmi_username", "sixteen-long-abc", ""},
		{"ipmi_username", "seventeen-longabc", "ipmi_username must be at most 16 bytes long, not 17"},
		{"ipmi_username", true, "must be a string, not bool"},
		{"ipmi_password", "secret-of-twenty-byt", ""},
		{"ipmi_password", "secret-of-more-than-that", "ipmi_password must be at most 20 bytes long, not 24"},
		{"ipmi_password", 12345.0, "must be a string, not float64"},
		{"ipmi_priv_level", "OPERATOR", ""},
		{"ipmi_priv_level", "user", ""},
		{"ipmi_priv_level", "ROOT", `must be ADMINISTRATOR, OPERATOR, USER or CALLBACK, not "ROOT"`},
		{"ipmi_cipher_suite", 3.0, ""},
		{"ipmi_cipher_suite", "17", ""},
		{"ipmi_cipher_suite", 0.0, "ipmi_cipher_suite must be 17 or 3, not 0"},
		{"ipmi_cipher_suite", 259, "ipmi_cipher_suite must be 17 or 3, not 259"},
		{"ipmi_cipher_suite", -1.0, "ipmi_cipher_suite must be 17 or 3, not -1"},
		{"ipmi_cipher_suite", 255, "ipmi_cipher_suite must be 17 or 3, not 255"},
		{"ipmi_cipher_suite", "best", "must be a whole number, not best"},
		{"ipmi_protocol_version", "2.0", ""},
		{"ipmi_protocol_version", "1.5", `ipmi_protocol_version must be 2.0, not "1.5": IPMI 1.5 sends commands unencrypted`},
		{"ipmi_bridging", "no", ""},
		{"ipmi_bridging", "single", `ipmi_bridging must be no, not "single": bridged commands are not supported`},
		{"ipmi_bridging", "dual", `ipmi_bridging must be no, not "dual"`},
		{"ipmi_hex_kg_key", "", ""},
		{"ipmi_hex_kg_key", "secret", "ipmi_hex_kg_key must not be set: BMC keys (Kg) are not supported"},
		{"ipmi_force_boot_device", "False", ""},
		{"ipmi_force_boot_device", true, "ipmi_force_boot_device must be false: "},
		{"ipmi_force_boot_device", "maybe", "must be true or false, not maybe"},
		{"ipmi_disable_boot_timeout", "no", ""},
		{"ipmi_disable_boot_timeout", 3.0, "must be true or false, not 3"},
	} {
		n := node.Node{DriverInfo: map[string]any{"ipmi_address": "10.0.0.1"}}
		n.DriverInfo[c.key] = c.v
		err := d.Validate(n)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s = %v: %v", c.key, c.v, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !permanent(err) ||
			strings.Contains(err.Error(), "secret")):
			t.Errorf("%s = %v: got %v, want %s", c.key, c.v, err, c.want)
		}
	}
}

func ExampleDriver_Validate() {
	err := ipmi.New(ipmi.Options{}).Validate(node.Node{})
	fmt.Println(err)
	// Output: driver_info: ipmi_address is missing: set it to the BMC's host name or address, such as 10.0.0.1
}
