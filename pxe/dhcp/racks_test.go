package dhcp

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

// racks are two subnets that are built alike, each behind a relay of its own, with n addresses each.
func racks(n int) []Subnet {
	one, two := small(n), small(n)
	one.Name, one.Relays = "rack-1", []netip.Addr{ip("192.0.2.1")}
	two.Name, two.Relays = "rack-2", []netip.Addr{ip("192.0.2.2")}
	return []Subnet{one, two}
}

func newRacks(t testing.TB, leases ...pxe.Lease) *Pool {
	t.Helper()
	p, err := NewPool(append([]Subnet{{Prefix: netip.MustParsePrefix("10.1.0.0/24")}}, racks(1)...),
		[]netip.Addr{ip("10.1.0.1")}, leases)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// served takes a machine through bindingFor and Reply, and grants an acknowledged address.
func served(t testing.TB, p *Pool, m dhcpv4.MessageType, machine int, changes ...change) (*dhcpv4.DHCPv4, error) {
	t.Helper()
	req := request(m, append(changes, func(d *dhcpv4.DHCPv4) { d.ClientHWAddr = mac(machine) })...)
	s := &Server{conf: Config{Server: ip("10.1.0.1"), Now: epoch}, pool: p}
	a := s.decide(req, pxe.Boot{Action: pxe.Address})
	if a.err == nil && a.grant.Save {
		p.Saved(a.grant)
	}
	return a.reply, a.err
}

func wants(a string) change {
	return func(d *dhcpv4.DHCPv4) { d.UpdateOption(dhcpv4.OptRequestedIPAddress(ip(a).AsSlice())) }
}

// TestRacksBuiltAlike: two machines have one address, each in its rack, and their MACs identify them.
func TestRacksBuiltAlike(t *testing.T) {
	p := newRacks(t)
	const address = "10.77.0.100"
	for machine, relay := range map[int]string{1: "192.0.2.1", 2: "192.0.2.2"} {
		for _, m := range []dhcpv4.MessageType{dhcpv4.MessageTypeDiscover, dhcpv4.MessageTypeRequest} {
			reply, err := served(t, p, m, machine, giaddr(relay), wants(address))
			if err != nil || reply == nil || addr(reply.YourIPAddr) != ip(address) {
				t.Fatalf("machine %d behind %s: %v, %v", machine, relay, reply, err)
			}
		}
	}
	for machine := 1; machine <= 2; machine++ {
		if c, ok := p.Client(ip(address), mac(machine), epoch()); !ok || c.MAC.String() != mac(machine).String() {
			t.Errorf("machine %d has its address: %v, %v", machine, c, ok)
		}
		p.Use(ip(address), mac(machine), epoch())
		if !p.entries[hwaddr(mac(machine))].used {
			t.Errorf("machine %d has not used its address", machine)
		}
	}
	if c, ok := p.Client(ip(address), nil, epoch()); ok {
		t.Errorf("an address that two machines have was taken for %v's", c.MAC)
	}
	// A renewal comes from the machine itself, without its relay.
	renewed, err := served(t, p, dhcpv4.MessageTypeRequest, 2,
		func(d *dhcpv4.DHCPv4) { d.ClientIPAddr = ip(address).AsSlice() })
	if err != nil || renewed == nil || renewed.MessageType() != dhcpv4.MessageTypeAck {
		t.Errorf("renewal: %v, %v", renewed, err)
	}
	// The racks have no address left for a third machine; a machine that moves over has to start anew.
	if reply, err := served(t, p, dhcpv4.MessageTypeDiscover, 3, giaddr("192.0.2.2")); err == nil {
		t.Errorf("a third machine got %v", reply)
	}
	moved, err := served(t, p, dhcpv4.MessageTypeRequest, 1, giaddr("192.0.2.2"), wants(address))
	if err != nil || moved == nil || moved.MessageType() != dhcpv4.MessageTypeNak {
		t.Errorf("a machine that moved into the other rack: %v, %v", moved, err)
	}
	for relay, want := range map[string]string{
		"10.77.0.254": "several subnets have 10.77.0.254", "192.0.2.3": "no subnet is configured for 192.0.2.3",
	} {
		if _, err := served(t, p, dhcpv4.MessageTypeDiscover, 1, giaddr(relay)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("by relay %s: error %v, want %s", relay, err, want)
		}
	}
}

// TestRackNamesOnRecord: leases on record keep their subnet, also when names are given or changed later.
func TestRackNamesOnRecord(t *testing.T) {
	on := func(machine int, subnet string, static bool) pxe.Lease {
		return pxe.Lease{MAC: mac(machine), Subnet: subnet, IP: ip("10.77.0.100"), Static: static,
			Expires: epoch().Add(time.Duration(machine) * time.Hour)}
	}
	for name, tc := range map[string]struct {
		leases []pxe.Lease
		want   map[int]string // subnets by machine
	}{
		"each in its rack": {[]pxe.Lease{on(1, "rack-1", false), on(2, "rack-2", false)},
			map[int]string{1: "rack-1", 2: "rack-2"}},
		"of before":         {[]pxe.Lease{on(1, "", false)}, map[int]string{1: "rack-1"}},
		"the name holds it": {[]pxe.Lease{on(3, "", true), on(1, "rack-1", false)}, map[int]string{1: "rack-1"}},
		"two other names":   {[]pxe.Lease{on(1, "a", false), on(2, "b", false)}, map[int]string{2: "rack-1"}},
		"a reservation":     {[]pxe.Lease{on(2, "a", false), on(1, "b", true)}, map[int]string{1: "rack-1"}},
	} {
		p := newRacks(t, tc.leases...)
		for machine := 1; machine <= 3; machine++ {
			got := ""
			if e := p.entries[hwaddr(mac(machine))]; e != nil {
				got = e.subnet
			}
			if got != tc.want[machine] {
				t.Errorf("%s: machine %d is in %q, want %q", name, machine, got, tc.want[machine])
			}
		}
	}
}

func TestRackReservations(t *testing.T) {
	reserved := pxe.Lease{MAC: mac(1), Subnet: "rack-1", IP: ip("10.77.0.7"), Static: true}
	p := newRacks(t, reserved)
	if reply, err := served(t, p, dhcpv4.MessageTypeDiscover, 1, giaddr("192.0.2.1")); err != nil ||
		addr(reply.YourIPAddr) != reserved.IP {
		t.Errorf("in its rack: %v, %v", reply, err)
	}
	_, err := served(t, p, dhcpv4.MessageTypeDiscover, 1, giaddr("192.0.2.2"))
	if err == nil || !strings.Contains(err.Error(), "no free host address of subnet 10.77.0.0/24 (rack-2)") {
		t.Errorf("in the other rack: %v", err)
	}
	for _, tc := range []struct{ subnet, address, want, refused string }{
		{"rack-2", "10.77.0.7", "rack-2", ""},
		{"", "10.1.0.7", "", ""},
		{"", "10.77.0.7", "", "in several subnets: give the name of the subnet, one of 10.77.0.0/24 (rack-1), " +
			"10.77.0.0/24 (rack-2)"},
		{"rack-3", "10.77.0.7", "", `in no subnet of the name "rack-3"`},
		{"rack-2", "10.1.0.7", "", `in no subnet of the name "rack-2": expected 10.1.0.0/24`},
		{"", "10.9.0.7", "", "in no subnet that is served"},
		{"rack-1", "10.77.0.255", "", "the network or broadcast address of 10.77.0.0/24 (rack-1)"},
	} {
		got, err := p.Reservable(tc.subnet, ip(tc.address))
		if got != tc.want || (err != nil) != (tc.refused != "") || err != nil && !strings.Contains(err.Error(),
			tc.refused) {
			t.Errorf("%s of %q: %q, %v, want %q or error %q", tc.address, tc.subnet, got, err, tc.want, tc.refused)
		}
	}
}

func TestRacksRefused(t *testing.T) {
	for want, change := range map[string]func(s []Subnet){
		"two that have one prefix need a name each": func(s []Subnet) { s[1].Name = "" },
		"each the addresses of its relays":          func(s []Subnet) { s[0].Relays = nil },
		"have one name":                             func(s []Subnet) { s[1].Name = "rack-1" },
		"overlap: an address must belong":           func(s []Subnet) { s[1].Prefix = netip.MustParsePrefix("10.77.0.0/25") },
		"is of both subnets":                        func(s []Subnet) { s[1].Relays = s[0].Relays },
		`the name "rack 1" is none`:                 func(s []Subnet) { s[0].Name = "rack 1" },
	} {
		both := racks(1)
		change(both)
		if _, err := NewPool(both, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
