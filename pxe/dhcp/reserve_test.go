package dhcp

import (
	"net/netip"
	"strings"
	"testing"
)

func TestReservable(t *testing.T) {
	p, err := NewPool([]Subnet{
		{Prefix: netip.MustParsePrefix("10.0.0.0/24"), Router: netip.MustParseAddr("10.0.0.254")},
		{Prefix: netip.MustParsePrefix("10.0.1.0/31")},
	}, []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for ip, want := range map[string]string{
		"10.0.0.50":  "",
		"10.0.1.0":   "", // a /31 has hosts only
		"10.0.2.1":   "10.0.0.0/24, 10.0.1.0/31",
		"fe80::1":    "no subnet",
		"10.0.0.0":   "network or broadcast",
		"10.0.0.255": "network or broadcast",
		"10.0.0.1":   "own or a router's",
		"10.0.0.254": "own or a router's",
	} {
		_, err := p.Reservable("", netip.MustParseAddr(ip))
		if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", ip, err, want)
		}
	}
}
