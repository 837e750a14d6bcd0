package dhcp

import (
	"encoding/hex"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDatagram compares with a datagram that has checksums worked out by hand, and checks that receivers' sums come
// out right for even and odd lengths.
func TestDatagram(t *testing.T) {
	from, to := netip.MustParseAddrPort("10.77.0.1:67"), netip.MustParseAddrPort("10.77.0.100:68")
	b := datagram(from, to, []byte("abc"))
	want := "4500001f00000000401165d00a4d00010a4d0064" + "00430044000b25f0616263"
	if diff := cmp.Diff(want, hex.EncodeToString(b)); diff != "" {
		t.Error(diff)
	}
	for n := range 9 {
		b := datagram(from, to, make([]byte, 300+n))
		udp := b[ipv4Header:]
		if got := sum(b[:ipv4Header], 0); got != 0xffff {
			t.Errorf("%d bytes: the IP header sums to %04x", n, got)
		}
		if got := sum(udp, uint32(sum(b[12:20], 0))+protoUDP+uint32(len(udp))); got != 0xffff {
			t.Errorf("%d bytes: UDP sums to %04x", n, got)
		}
	}
}
