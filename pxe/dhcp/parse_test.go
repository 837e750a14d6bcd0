package dhcp

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestParseSubnet: a line is a subnet, and an error names its fault.
func TestParseSubnet(t *testing.T) {
	at := netip.MustParseAddr
	rack := Subnet{Name: "rack-2", Prefix: netip.MustParsePrefix("10.2.0.0/24"), First: at("10.2.0.100"),
		Last:   at("10.2.0.199"),
		Router: at("10.2.0.1"), DNS: []netip.Addr{at("10.0.0.53"), at("10.0.0.54")},
		NTP:    []netip.Addr{at("10.0.0.123")},
		Domain: "rack2.example", Lease: 30 * time.Minute, Relays: []netip.Addr{at("192.0.2.2")},
		Options: map[uint8][]byte{26: {0x05, 0xdc}}}
	for name, tc := range map[string]struct {
		entry string
		want  Subnet
		err   string
	}{
		"a line": {entry: "10.2.0.0/24 pool=10.2.0.100-10.2.0.199 router=10.2.0.1 dns=10.0.0.53,10.0.0.54 " +
			"ntp=10.0.0.123 " +
			"domain=rack2.example lease=30m relay=192.0.2.2 option-26=05:dc name=rack-2", want: rack},
		"spaces": {entry: "name=Rack 3 subnet=10.3.0.0/24 dns=10.0.0.53, 10.0.0.54", want: Subnet{Name: "Rack 3",
			Prefix: netip.MustParsePrefix("10.3.0.0/24"), First: at("10.3.0.128"), Last: at("10.3.0.254"),
			DNS: []netip.Addr{at("10.0.0.53"), at("10.0.0.54")}, Lease: time.Hour}},
		"a pool of its own": {entry: "10.3.0.0/24", want: Subnet{Prefix: netip.MustParsePrefix("10.3.0.0/24"),
			First: at("10.3.0.128"), Last: at("10.3.0.254"), Lease: time.Hour}},
		"no pool": {
			entry: "10.3.0.0/30 pool=none", want: Subnet{Prefix: netip.MustParsePrefix("10.3.0.0/30"),
				Lease: time.Hour},
		},
		"too small":    {entry: "10.3.0.0/30", err: "too small for a pool"},
		"a word more":  {entry: "10.3.0.0/24 fast", err: "10.3.0.0/24 fast"},
		"no subnet":    {entry: "pool=10.2.0.100-10.2.0.199", err: "expected an IPv4 subnet"},
		"not a prefix": {entry: "10.2.0.0", err: "no '/'"},
		"IPv6":         {entry: "fd00::/64", err: "expected an IPv4 subnet"},
		"unknown": {
			entry: "10.2.0.0/24 gateway=10.2.0.1", err: "gateway: is unknown: expected option-CODE or one of dns, " +
				"domain",
		},
		"half a range":   {entry: "10.2.0.0/24 pool=10.2.0.100", err: "is not first-last"},
		"no hexadecimal": {entry: "10.2.0.0/24 option-26=1500x", err: "expected the value in hexadecimal"},
		"no code":        {entry: "10.2.0.0/24 option-mtu=05dc", err: "no code of an option"},
	} {
		got, err := ParseSubnet(tc.entry, time.Hour)
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: %v, want %q", name, err, tc.err)
			}
			continue
		}
		if diff := cmp.Diff(tc.want, got, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); err != nil ||
			diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}
