package api_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestNetworkData(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`)
	const (
		phy  = `{"id":"e0","type":"phy","ethernet_mac_address":"52:54:00:00:00:01","mtu":1500}`
		bond = `{"id":"b0","type":"bond","ethernet_mac_address":"52-54-00-00-00-0A","bond_mode":"802.3ad","bond_links":["e0"],"mtu":null}`
		vlan = `{"id":"v0","type":"vlan","vlan_mac_address":"52:54:00:00:00:01","vlan_link":"b0","vlan_id":7}`
		four = `{"id":"n0","type":"ipv4","link":"v0","network_id":"x","ip_address":"192.0.2.1","netmask":"255.255.255.128","routes":[{"network":"0.0.0.0","netmask":"0.0.0.0","gateway":"192.0.2.9"}]}`
		six  = `{"id":"n1","type":"ipv6","link":"b0","network_id":"x","ip_address":"2001:db8::1/64","netmask":"ffff:ffff:ffff:ffff::"}`
		dns  = `{"type":"dns","address":"192.0.2.53"}`
		dns6 = `{"type":"dns","address":"2001:db8::53"}`
	)
	data := func(links, networks, services string) string {
		return `{"links":[` + links + `],"networks":[` + networks + `],"services":[` + services + `]}`
	}
	set := func(value string) reply {
		return c.do(115, "PATCH", "/v1/nodes/n1", `[{"op":"add","path":"/network_data","value":`+value+`}]`)
	}
	for _, good := range []string{data(phy+","+bond+","+vlan, four+","+six, dns+","+dns6), data("", "", ""),
		`{}`, `null`} {
		if r := set(good); r.status != http.StatusOK {
			t.Errorf("%s: %d %s", good, r.status, r.body)
		}
	}
	but := func(in, old, new string) string { return strings.Replace(in, old, new, 1) }
	for _, bad := range []struct{ value, want string }{
		{`{"links":[]}`, "'networks' is a required property"},
		{`{"links":{},"networks":[],"services":[]}`, "links: {} is not of type 'array'"},
		{data("7", "", ""), "links: 0: 7 is not of type 'object'"},
		{data(but(phy, `"phy"`, `"tin"`), "", ""), "type: 'tin' is not one of"},
		{data(but(phy, "52:54", "5254"), "", ""), "is no MAC address"},
		{data(but(phy, "1500", "70000"), "", ""), "1 to 65535"},
		{data(but(bond, "802.3ad", "best"), "", ""), "bond_mode: 'best' is not one of"},
		{data(but(bond, `["e0"]`, `"e0"`), "", ""), "bond_links: 'e0' is not of type 'array'"},
		{data(but(vlan, "7", `"7"`), "", ""), "vlan_id: '7' is not of type 'integer'"},
		{data("", but(four, "192.0.2.1", "192.0.2"), ""), "is no IPv4 address"},
		{data("", but(four, "255.255.255.128", "255.0.255.0"), ""), "is no IPv4 network mask"},
		{data("", but(four, `,"gateway":"192.0.2.9"`, ""), ""), "routes: 0: 'gateway' is a required"},
		{data("", but(six, "/64", "/164"), ""), "is no IPv6 address"},
		{data("", "", but(dns, "dns", "ntp")), "type: 'ntp' is not one of"},
		{data("", "", but(dns, "192.0.2.53", "dns.example")), "is no IPv4 address"},
		{data(phy, but(four, "v0", "e9"), ""), "networks: 0 (\"n0\"): link: there is no link \"e9\""},
		{data(phy+","+but(bond, `["e0"]`, `["e7"]`), but(four, "v0", "b0"), ""), `link "b0": it is a bond of link "e7"`},
		{data(phy, but(but(four, "v0", "e0"), "192.0.2.9", "198.51.100.1"), ""), "gateway 198.51.100.1 is in none"},
		{data(phy, "", ""), "the ramdisk would reach nothing"},
		{`[]`, "not of type 'object'"},
	} {
		if r := set(bad.value); r.status != http.StatusBadRequest || !strings.Contains(r.text(), bad.want) {
			t.Errorf("%s: %d %s, want %q", bad.value, r.status, r.text(), bad.want)
		}
	}
	if r := c.do(115, "POST", "/v1/nodes",
		`{"driver":"fake-hardware","network_data":{"links":1}}`); r.status != http.StatusBadRequest {
		t.Errorf("at creation: %d %s", r.status, r.body)
	}
}
