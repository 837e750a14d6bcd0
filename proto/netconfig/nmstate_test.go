package netconfig

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const stateOfBond = `{
  "interfaces": [
    {"name": "lo", "type": "loopback", "state": "up"},
    {"name": "eno1", "type": "ethernet", "state": "up", "mac-address": "52:54:00:00:00:01"},
    {"name": "eno2", "type": "ethernet", "state": "up", "mac-address": "52:54:00:00:00:02"},
    {"name": "eno3", "type": "ethernet", "state": "down"},
    {"name": "bond0", "type": "bond", "state": "up", "mtu": 9000, "link-aggregation":
      {"mode": "802.3ad", "port": ["eno1", "eno2"], "options": {"miimon": "140", "lacp_rate": 1}}},
    {"name": "bond0.7", "type": "vlan", "state": "up", "vlan": {"base-iface": "bond0", "id": 7},
      "ipv4": {"enabled": true, "address": [{"ip": "10.7.0.9", "prefix-length": 24}]},
      "ipv6": {"enabled": true, "autoconf": true, "address": [{"ip": "fe80::9", "prefix-length": 64}]}}
  ],
  "routes": {"config": [
    {"destination": "10.8.0.0/16", "next-hop-address": "10.7.0.2", "next-hop-interface": "bond0.7", "metric": 200},
    {"destination": "0.0.0.0/0", "next-hop-address": "10.7.0.1", "next-hop-interface": "bond0.7", "metric": 100}
  ]},
  "dns-resolver": {"config": {"server": ["10.7.0.53"]}}
}`

// TestNMState: a tagged bond as users of Metal3 write it becomes the plan that network_data would give.
func TestNMState(t *testing.T) {
	data, err := NMState([]byte(stateOfBond))
	if err != nil {
		t.Fatal(err)
	}
	p, err := NetworkData(data)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range p.Operations() {
		got = append(got, o.String())
	}
	want := []string{
		`create "bond0"`, `set MTU of "bond0" to 9000`,
		`add to bond "eno1" on "bond0"`, `switch on "eno1"`, `add to bond "eno2" on "bond0"`, `switch on "eno2"`,
		`switch on "bond0"`, `create "bond0.7" on "bond0"`, `switch on "bond0.7"`,
		`set address of "bond0.7" to 10.7.0.9/24`,
		`set route of "bond0.7" to 0.0.0.0/0 by 10.7.0.1 metric 50`,
		`set route of "bond0.7" to 10.8.0.0/16 by 10.7.0.2 metric 51`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	bond, _ := p.Link("bond0")
	if b := bond.Bonding; bond.MAC.String() != "52:54:00:00:00:01" || b.MIIMonitor != 140 || b.LACPRate != "fast" {
		t.Errorf("the bond is %+v", bond)
	}
	if vlan, _ := p.Link("bond0.7"); vlan.MAC.String() != "52:54:00:00:00:01" || len(p.DNS) != 1 {
		t.Errorf("the VLAN is %+v, the name servers are %v", vlan, p.DNS)
	}
}

func TestNMStateRefused(t *testing.T) {
	card := `{"interfaces": [{"name": "a", "mac-address": "52:54:00:00:00:01", "ipv4": {"enabled": true, "dhcp": true}}`
	for name, tc := range map[string]struct{ text, want string }{
		"no JSON": {`interfaces`, "nmstate: invalid character"},
		"nothing": {`{}`, "expected at least one that is up"},
		"a card by its name": {`{"interfaces": [{"name": "eno1", "ipv4": {"enabled": true, "dhcp": true}}]}`,
			"mac-address is missing"},
		"a bridge": {`{"interfaces": [{"name": "br0", "type": "linux-bridge"}]}`,
			"a ramdisk makes ethernet, bond and vlan"},
		"a bad address": {strings.Replace(card, `"dhcp": true`, `"address": [{"ip": "10.0.0.256"}]`, 1) + "]}",
			"ipv4.address[0]"},
		"IPv6 among IPv4": {
			strings.Replace(card, `"dhcp": true`, `"address": [{"ip": "fd00::1", "prefix-length": 64}]`, 1) + "]}",
			"ipv4.address[0]",
		},
		"DHCPv6": {strings.Replace(card, "ipv4", "ipv6", 1) + "]}", "the ramdisk has no DHCPv6"},
		"a route by DHCP": {
			card +
				`], "routes": {"config": [{"destination": "0.0.0.0/0", "next-hop-address": "10.0.0.1", "next-hop-interface": "a"}]}}`, "has no static ipv4 address",
		},
		"a route to nowhere": {card + `], "routes": {"config": [{"destination": "0.0.0.0/0", "next-hop-interface": "a"}]}}`,
			"is no address"},
		"a member left out": {
			card + `, {"name": "b0", "type": "bond", "link-aggregation": {"mode": "802.3ad", "port": ["a", "b"]}}]}`, "b0",
		},
		"an option of bonds": {
			card + `, {"name": "b0", "type": "bond", "link-aggregation": {"port": ["a"], "options": {"primary": "a"}}}]}`,
			"primary is unknown",
		},
		"a monitor of no use": {
			card + `, {"name": "b0", "type": "bond", "link-aggregation": {"port": ["a"], "options": {"miimon": "x"}}}]}`,
			"milliseconds",
		},
		"too long": {strings.Repeat(" ", MaxNetworkData+1), "at most"},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := NMState([]byte(tc.text))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("made %s with the error %v, expected one with %q", data, err, tc.want)
			}
		})
	}
}

// FuzzNMState: every result is network_data that can be planned.
func FuzzNMState(f *testing.F) {
	f.Add([]byte(stateOfBond))
	f.Add([]byte(`{"interfaces":[{"name":"a","mac-address":"52:54:00:00:00:01","ipv4":{"enabled":true,"dhcp":true}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		data, err := NMState(text)
		if err != nil {
			return
		}
		if _, err := NetworkData(data); err != nil {
			t.Errorf("made %s: %v", data, err)
		}
	})
}
