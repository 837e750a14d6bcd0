package connlimit

import (
	"net/netip"
	"testing"
)

func TestNetwork(t *testing.T) {
	for in, want := range map[string]string{
		"10.0.0.7":                  "10.0.0.7",
		"::ffff:10.0.0.7":           "10.0.0.7",
		"2001:db8:1:2:3:4:5:6":      "2001:db8:1:2::",
		"2001:db8:1:2:ffff::1":      "2001:db8:1:2::",
		"2001:db8:1:3::1":           "2001:db8:1:3::",
		"fe80::5054:ff:fe77:1%eth0": "fe80::",
	} {
		if got := Network(netip.MustParseAddr(in)).String(); got != want {
			t.Errorf("Network(%s) = %s, want %s", in, got, want)
		}
	}
	if got := Network(netip.Addr{}); got.IsValid() {
		t.Errorf("Network of no address = %s", got)
	}
}
