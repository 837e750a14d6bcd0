package dhcp

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

// TestSubnetOptions: a machine behind a relay gets the options of its subnet, which the relay's
// address or its name in the subnet chooses.
func TestSubnetOptions(t *testing.T) {
	rack := Subnet{Prefix: netip.MustParsePrefix("10.88.0.0/24"), First: ip("10.88.0.10"), Last: ip("10.88.0.20"),
		Router: ip("10.88.0.254"), DNS: []netip.Addr{ip("10.1.1.1")}, NTP: []netip.Addr{ip("10.1.1.2"), ip("10.1.1.3")},
		Domain: "rack2.example", Options: map[uint8][]byte{26: {0x05, 0xdc}}, Relays: []netip.Addr{ip("192.0.2.7")}}
	pool, err := NewPool([]Subnet{answerOfServer().Subnet, rack}, []netip.Addr{ip("10.77.0.1")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for relay, want := range map[string]string{
		"10.88.0.254": "10.88.0.0/24", "192.0.2.7": "10.88.0.0/24", "10.77.0.9": "10.77.0.0/24", "192.0.2.8": "",
	} {
		req := request(dhcpv4.MessageTypeDiscover, biosROM, giaddr(relay))
		s, ok := pool.SubnetOf(addr(req.GatewayIPAddr), linkAddr(req, ip("10.77.0.1")), mac(1))
		if got := s.Prefix.String(); ok != (want != "") || ok && got != want {
			t.Errorf("a request by relay %s is of subnet %s (%v), want %q", relay, got, ok, want)
		}
	}
	req := request(dhcpv4.MessageTypeDiscover, biosROM, giaddr("192.0.2.7"))
	got, _ := Reply(req, pxe.Boot{Action: pxe.Address}, pxe.Lease{MAC: mac(1), IP: ip("10.88.0.10")},
		Answer{Server: ip("10.77.0.1"), Subnet: rack})
	if got.DomainName() != "rack2.example" || len(got.NTPServers()) != 2 ||
		string(got.Options.Get(dhcpv4.OptionInterfaceMTU)) != "\x05\xdc" || !got.Router()[0].Equal(rack.Router.AsSlice()) {
		t.Errorf("the reply is %s", got.Summary())
	}
}

func TestSubnetRefused(t *testing.T) {
	base := Subnet{Prefix: netip.MustParsePrefix("10.88.0.0/24")}
	for want, change := range map[string]func(s *Subnet){
		"DHCP option 6 is set by the server itself": func(s *Subnet) { s.Options = map[uint8][]byte{6: {1}} },
		"DHCP option 26 has 0 bytes":                func(s *Subnet) { s.Options = map[uint8][]byte{26: {}} },
		"DHCP option 26 has 256 bytes": func(s *Subnet) {
			s.Options = map[uint8][]byte{26: make([]byte, 256)}
		},
		"the time server fd00::1 is no IPv4 address": func(s *Subnet) {
			s.NTP = []netip.Addr{netip.MustParseAddr("fd00::1")}
		},
		"the relay 0.0.0.0 is no IPv4 address":        func(s *Subnet) { s.Relays = []netip.Addr{ip("0.0.0.0")} },
		"the domain has 254 characters":               func(s *Subnet) { s.Domain = strings.Repeat("a", 254) },
		"lease time 1s is under a minute":             func(s *Subnet) { s.Lease = time.Second },
		"the relay 192.0.2.7 is of both subnets":      func(s *Subnet) { s.Relays = []netip.Addr{ip("192.0.2.7")} },
		"subnets 10.0.0.0/8 and 10.88.0.0/24 overlap": nil,
	} {
		s, other := base, Subnet{Prefix: netip.MustParsePrefix("10.99.0.0/24"), Relays: []netip.Addr{ip("192.0.2.7")}}
		if change == nil {
			other.Prefix = netip.MustParsePrefix("10.0.0.0/8")
		} else {
			change(&s)
		}
		if _, err := NewPool([]Subnet{other, s}, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
