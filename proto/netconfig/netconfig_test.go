package netconfig

import (
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// described is a plan's operations, a line each, and its name servers.
func described(p Plan) []string {
	var out []string
	for _, o := range p.Operations() {
		out = append(out, o.String())
	}
	for _, d := range p.DNS {
		out = append(out, "dns "+d.String())
	}
	for _, l := range p.Links {
		if l.DHCP {
			out = append(out, "dhcp on "+l.ID)
		}
	}
	return out
}

const rack = `{"links":[
	{"id":"tagged","type":"vlan","vlan_mac_address":"52:54:00:00:00:01","vlan_link":"both","vlan_id":7},
	{"id":"left","type":"phy","ethernet_mac_address":"52:54:00:00:00:01"},
	{"id":"both","type":"bond","ethernet_mac_address":"52:54:00:00:00:01","bond_mode":"802.3ad",
		"bond_links":["left","right"],"mtu":9000,"bond_xmit_hash_policy":"layer3+4"},
	{"id":"right","type":"phy","ethernet_mac_address":"52-54-00-00-00-02","mtu":null},
	{"id":"spare","type":"phy","ethernet_mac_address":"52:54:00:00:00:03","mtu":1400}],
 "networks":[
	{"id":"n0","type":"ipv4","link":"tagged","network_id":"x","ip_address":"10.7.0.9","netmask":"255.255.255.0",
		"routes":[{"network":"0.0.0.0","netmask":"0.0.0.0","gateway":"10.7.0.1"},
			{"network":"0.0.0.0","netmask":"0.0.0.0","gateway":"10.7.0.2"}],"services":[{"type":"dns","address":"10.7.0.53"}]},
	{"id":"n1","type":"ipv6","link":"tagged","network_id":"x","ip_address":"2001:db8::9","netmask":"ffff:ffff:ffff:ffff::",
		"routes":[{"network":"::","netmask":"::","gateway":"fe80::1"}]},
	{"id":"n2","type":"ipv4_dhcp","link":"spare","network_id":"x"}],
 "services":[{"type":"dns","address":"2001:db8::53"}]}`

func TestNetworkData(t *testing.T) {
	p, err := NetworkData([]byte(rack))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`create "both"`, `set MTU of "both" to 9000`,
		`add to bond "left" on "both"`, `switch on "left"`,
		`add to bond "right" on "both"`, `switch on "right"`,
		`set MTU of "spare" to 1400`, `switch on "spare"`,
		`switch on "both"`,
		`create "tagged" on "both"`, `switch on "tagged"`,
		`set address of "tagged" to 10.7.0.9/24`, `set address of "tagged" to 2001:db8::9/64`,
		`set route of "tagged" to 0.0.0.0/0 by 10.7.0.1 metric 50`,
		`set route of "tagged" to 0.0.0.0/0 by 10.7.0.2 metric 51`,
		`set route of "tagged" to ::/0 by fe80::1 metric 52`,
		"dns 10.7.0.53", "dns 2001:db8::53", "dhcp on spare",
	}
	if diff := cmp.Diff(want, described(p)); diff != "" {
		t.Error(diff)
	}
	both, _ := p.Link("both")
	if diff := cmp.Diff(Bonding{Mode: "802.3ad", Members: []string{"left", "right"}, MIIMonitor: 100,
		HashPolicy: "layer3+4"}, both.Bonding); diff != "" || both.Name != "bond0" {
		t.Errorf("%s: %s", both.Name, diff)
	}
	if diff := cmp.Diff([]string{"bonding", "8021q"}, p.Modules()); diff != "" {
		t.Error(diff)
	}
}

// TestNetworkDataIsLenient: values of other kinds that mean the same, as templates, Nova and cloud-init write them.
func TestNetworkDataIsLenient(t *testing.T) {
	want, err := NetworkData([]byte(rack))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ old, new string }{
		{`"vlan_id":7`, `"vlan_id":"7"`},
		{`"mtu":9000`, `"mtu":"9000"`},
		{`"mtu":1400`, `"mtu":1400.0`},
		{`"mtu":null`, `"mtu":""`},
		{`"bond_mode":"802.3ad"`, `"bond_mode":4`},
		{`"bond_mode":"802.3ad"`, `"bond_mode":"4","bond_miimon":"100"`},
		{`"netmask":"255.255.255.0"`, `"netmask":"24"`},
		{`"netmask":"255.255.255.0"`, `"netmask":24`},
		{`"ip_address":"10.7.0.9","netmask":"255.255.255.0"`, `"ip_address":"10.7.0.9/24","netmask":null`},
		{`"netmask":"ffff:ffff:ffff:ffff::"`, `"netmask":"64"`},
		{`"2001:db8::9","netmask":"ffff:ffff:ffff:ffff::"`, `"2001:db8::9/64"`},
		{`"link":"spare","network_id":"x"`, `"link":"spare","network_id":null,"routes":null,"services":null,"gateway":null`},
		{`"type":"phy","ethernet_mac_address":"52:54:00:00:00:03"`,
			`"type":null,"ethernet_mac_address":"52:54:00:00:00:03"`},
		{`"type":"phy","ethernet_mac_address":"52:54:00:00:00:03"`,
			`"type":"dvs-port","ethernet_mac_address":"52:54:00:00:00:03"`},
		{`"network":"::","netmask":"::"`, `"network":"::/0"`},
		{`"gateway":"10.7.0.1"},`, `"gateway":"10.7.0.1"},{"network":"0.0.0.0/0","gateway":"10.7.0.1"},`}, // with each address
		{`"id":"n1"`, `"id":"n0"`}, // nothing refers to a network by its id
		{`"type":"phy","ethernet_mac_address":"52:54:00:00:00:03"`,
			`"type":"phy","vif_id":null,"name":null,"ethernet_mac_address":"52:54:00:00:00:03"`},
	} {
		if !strings.Contains(rack, tc.old) {
			t.Fatalf("there is no %s to replace", tc.old)
		}
		got, err := NetworkData([]byte(strings.Replace(rack, tc.old, tc.new, 1)))
		if err != nil {
			t.Errorf("%s: %v", tc.new, err)
		} else if diff := cmp.Diff(described(want), described(got)); diff != "" {
			t.Errorf("%s: %s", tc.new, diff)
		}
	}
	for _, without := range []string{`"ethernet_mac_address":"52:54:00:00:00:01","bond_mode"`,
		`"vlan_mac_address":"52:54:00:00:00:01",`} {
		text := strings.Replace(rack, without, strings.TrimPrefix(without, without[:strings.Index(without, ",")+1]), 1)
		if _, err := NetworkData([]byte(text)); err != nil {
			t.Errorf("without %s: %v", without, err)
		}
	}
}

func TestNetworkDataRefuses(t *testing.T) {
	for _, tc := range []struct{ old, new, want string }{
		{`"vlan_id":7`, `"vlan_id":4095`, `link "tagged": VLAN 4095: expected 1 to 4094`},
		{`"vlan_id":7`, `"vlan_id":0`, `link "tagged": VLAN 0: expected 1 to 4094`},
		{`"10.7.0.9"`, `"10.7.0.0"`, `10.7.0.0/24 is the first or last address of its network, 10.7.0.0 to 10.7.0.255`},
		{`"10.7.0.9"`, `"10.7.0.255"`, `10.7.0.255/24 is the first or last address of its network`},
		{`"10.7.0.9"`, `"10.7.0.1"`, `route to 0.0.0.0/0: gateway 10.7.0.1 is the link's own address`},
		{`"10.7.0.9"`, `"10.8.0.9"`, `gateway 10.7.0.1 is in none of the link's networks`},
		{`"vlan_link":"both"`, `"vlan_link":"left"`, `"tagged": it is a VLAN of link "left", a member of bond "both"`},
		{`"vlan_link":"both"`, `"vlan_link":"tagged"`, `it is a VLAN of VLAN "tagged"`},
		{`"vlan_link":"both"`, `"vlan_link":"none"`, `it is a VLAN of link "none", which is not there`},
		{`"left","right"`, `"left","left"`, `"both": it names link "left" twice`},
		{`"left","right"`, `"left","tagged"`, `which is a vlan: a bond is made of cards`},
		{`["left","right"]`, `[]`, `"both": it is a bond of no links`},
		{`"802.3ad"`, `"best"`, `bonding mode "best" is unknown`},
		{`layer3+4`, `layer9`, `hash policy "layer9" is unknown`},
		{`-00-02"`, `-00-01"`, `link "right": the MAC address 52:54:00:00:00:01 is already that of link "left"`},
		{`"52:54:00:00:00:03"`, `"03:00:00:00:00:03"`, `is no MAC address of a card`},
		{`"spare"`, `"left"`, `its id is used twice`},
		{`"link":"spare"`, `"link":"left"`, `"left" is a member and has an address of its own`},
		{`"link":"spare"`, `"link":"nowhere"`, `networks: 2 ("n2"): link: there is no link "nowhere"`},
		{`255.255.255.0`, `255.0.255.0`, `networks: 0 ("n0"): ip_address: netmask: "255.0.255.0"`},
		{`10.7.0.9`, `10.7.0`, `"10.7.0" is no IPv4 address`},
		{`10.7.0.9`, `127.0.0.1`, `127.0.0.1/24 is no address of a host`},
		{`"gateway":"10.7.0.1"`, `"gateway":"10.8.0.1"`, `gateway 10.8.0.1 is in none of the link's networks`},
		{`"gateway":"fe80::1"`, `"gateway":"10.7.0.1"`, `both IPv4 or both IPv6`},
		{`"ipv4_dhcp"`, `"ipv6_dhcp"`, `the ramdisk has no DHCPv6`},
		{`"mtu":1400`, `"mtu":1400.5`, `links: 4 ("spare"): mtu: 1400.5 is no whole number`},
		{`"type":"vlan"`, `"type":null`, `links: 0 ("tagged"): type is missing: expected vlan or bond`},
		{`"mtu":1400`, `"mtu":"large"`, `network_data: links.mtu: expected a number, found "large"`},
		{`"vlan_id":7`, `"vlan_id":[7]`, `network_data: links.vlan_id: expected a number, found [7]`},
		{`"vlan_id":7`, `"vlan_id":7.5`, `links: 0 ("tagged"): vlan_id: 7.5 is no whole number`},
		{`"vlan_id":7`, `"vlan_id":"NaN"`, `vlan_id: NaN is no whole number`},
		{`["left","right"]`, `"left"`, `network_data: links.bond_links: expected a list, found string`},
		{`"id":"spare"`, `"id":5`, `network_data: links.id: expected text, found number`},
		{`"802.3ad"`, `["4"]`, `network_data: links.bond_mode: expected text, found ["4"]`},
		{`"netmask":"255.255.255.0"`, `"netmask":"33"`, `netmask: "33"`},
		{`,"gateway":"10.7.0.1"`, ``, `networks: 0 ("n0"): routes: 0: gateway: "" is no address`},
		{`"52:54:00:00:00:03"`, `null`, `links: 4 ("spare"): ethernet_mac_address: "" is no MAC address`},
		{`"mtu":1400`, `"mtu":99`, `link "spare": mtu 99: expected 576 to 65535`},
		{`"type":"dns","address":"2001`, `"type":"ntp","address":"2001`, `services: 0: type: "ntp" is unknown`},
		{`"netmask":"ffff:ffff:ffff:ffff::"`, `"netmask":""`, `"2001:db8::9" has no netmask`},
		{`2001:db8::9`, `2001:db8::9/48`, `are of different lengths`},
	} {
		if !strings.Contains(rack, tc.old) {
			t.Fatalf("there is no %s to replace", tc.old)
		}
		_, err := NetworkData([]byte(strings.ReplaceAll(rack, tc.old, tc.new)))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: found %v, want %q", tc.new, err, tc.want)
		}
	}
	for form, found := range map[string]string{ // coreos/afterburn#1238
		`{"version":2,"ethernets":{"eth0":{"dhcp4":true}}}`: "ethernets, version", `{"network":{"version":2}}`: "network",
		`{"version":1,"config":[]}`: "config, version",
	} {
		_, err := NetworkData([]byte(form))
		if err == nil || !strings.HasSuffix(err.Error(), "as OpenStack has them; found "+found) {
			t.Errorf("%s: %v", form, err)
		}
	}
	for _, none := range []string{`{}`, `{"links":null,"x":1}`} {
		if _, err := NetworkData([]byte(none)); err != nil {
			t.Errorf("%s: %v", none, err)
		}
	}
	if _, err := NetworkData(make([]byte, MaxNetworkData+1)); err == nil {
		t.Error("network_data of any size is read")
	}
}

var booted = net.HardwareAddr{0x52, 0x54, 0, 0, 0, 1}

func TestKernelLine(t *testing.T) {
	for _, tc := range []struct {
		line string
		want []string
	}{
		{"quiet ip=dhcp BOOTIF=52:54:00:00:00:01", nil},
		{"ip=10.0.0.2::10.0.0.1:24:::none:10.0.0.53:10.0.0.54", []string{`switch on "BOOTIF"`,
			`set address of "BOOTIF" to 10.0.0.2/24`, `set route of "BOOTIF" to 0.0.0.0/0 by 10.0.0.1 metric 50`,
			"dns 10.0.0.53", "dns 10.0.0.54"}},
		{"ip=[2001:db8::2]::[2001:db8::1]:64:host:eth0:none:1400 nameserver=[2001:db8::53]", []string{
			`set MTU of "eth0" to 1400`, `switch on "eth0"`, `set address of "eth0" to 2001:db8::2/64`,
			`set route of "eth0" to ::/0 by 2001:db8::1 metric 50`, "dns 2001:db8::53"}},
		{"ip=vlan7:dhcp vlan=vlan7:BOOTIF", []string{`switch on "BOOTIF"`, `create "vlan7" on "BOOTIF"`,
			`switch on "vlan7"`, "dhcp on vlan7"}},
		{"ip=bond0:dhcp:9000 bond=bond0:eth0,eth1:mode=4,lacp_rate=1", []string{`create "bond0"`,
			`set MTU of "bond0" to 9000`, `add to bond "eth0" on "bond0"`, `switch on "eth0"`,
			`add to bond "eth1" on "bond0"`, `switch on "eth1"`, `switch on "bond0"`, "dhcp on bond0"}},
		{"ip=10.0.0.2:::255.255.255.0::up:none rd.route=192.0.2.0/24:10.0.0.9 ifname=up:52:54:00:00:00:09", []string{
			`switch on "up"`, `set address of "up" to 10.0.0.2/24`,
			`set route of "up" to 192.0.2.0/24 by 10.0.0.9 metric 50`}},
	} {
		p, err := KernelLine(tc.line, booted)
		if err != nil {
			t.Errorf("%s: %v", tc.line, err)
		}
		if diff := cmp.Diff(tc.want, described(p)); diff != "" {
			t.Errorf("%s: %s", tc.line, diff)
		}
	}
}

func TestKernelLineRefuses(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{"ip=10.0.0.2::10.0.0.1:::eth0:none",
			`kernel parameter ip=10.0.0.2::10.0.0.1:::eth0:none: "10.0.0.2" has no netmask`},
		{"ip=10.0.0.2::10.0.0.1:33::eth0:none", "10.0.0.2/33"},
		{"ip=10.0.0.2::10.0.0.1", "expected ADDRESS::GATEWAY"},
		{"ip=eth0:auto6", `"auto6" is not possible here`},
		{"vlan=uplink:eth0", "ends in the number of the VLAN"},
		{"vlan=vlan7:eth0", "the ramdisk would reach nothing"},
		{"bond=bond0:eth0:best=1", `option "best" is unknown`},
		{"bond=bond0:eth0:mode=9 ip=bond0:dhcp", `bonding mode "9" is unknown`},
		{"bond=bond0:eth0 ip=eth0:dhcp", "is a member and has an address of its own"},
		{"ip=0123456789abcdef:dhcp", "is no name for an interface"},
		{"nameserver=dns.example", "is no address"},
		{"ifname=eth0:52:54", "expected NAME:MAC"},
		{"rd.route=192.0.2.0/24:10.0.0.9", "no link with a static address reaches the gateway"},
	} {
		if _, err := KernelLine(tc.line, booted); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: found %v, want %q", tc.line, err, tc.want)
		}
	}
	if _, err := KernelLine("ip=10.0.0.2:::24:::none", nil); err == nil || !strings.Contains(err.Error(), "no BOOTIF") {
		t.Error(err)
	}
}

// sound checks the kernel's needs: each operation's links are in the plan, and none comes twice.
func sound(t *testing.T, p Plan) {
	t.Helper()
	seen := map[string]bool{}
	for _, o := range p.Operations() {
		if _, ok := p.Link(o.Link.ID); !ok || seen[o.String()] {
			t.Errorf("%s of no link, or twice", o)
		}
		if _, ok := p.Link(o.Other); o.Other != "" && !ok {
			t.Errorf("%s on no link", o)
		}
		seen[o.String()] = true
	}
}

func FuzzNetworkData(f *testing.F) {
	f.Add([]byte(rack))
	f.Add([]byte(`{"links":[],"networks":[],"services":[]}`))
	f.Add([]byte(`{"links":[{"id":"a","type":"bond","bond_mode":4,"mtu":"1e3","bond_links":null},{"id":"b","type":"vlan",` +
		`"vlan_id":"7","vlan_link":"a"}],"networks":[{"link":"b","type":"ipv4","ip_address":"10.0.0.2","netmask":24}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, err := NetworkData(text); err == nil {
			sound(t, p)
		}
	})
}

func FuzzKernelLine(f *testing.F) {
	f.Add("ip=[2001:db8::2]::[2001:db8::1]:64:host:eth0:none:1400 nameserver=[2001:db8::53]")
	f.Add("ip=vlan7:dhcp vlan=vlan7:bond0 bond=bond0:eth0,eth1:mode=802.3ad,lacp_rate=fast:9000 " +
		"rd.route=::/0:fe80::1:eth0")
	f.Fuzz(func(t *testing.T, line string) {
		if p, err := KernelLine(line, booted); err == nil {
			sound(t, p)
		}
	})
}
