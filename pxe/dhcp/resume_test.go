package dhcp

import (
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/pxetest"
)

// TestClockSetForward: the clock was set eight days forward while the server was away. Machines that had an address
// then still have it, also on record, and no other machine gets it. A lease that had run out before stays ended. Where
// a lease still runs, none is prolonged.
func TestClockSetForward(t *testing.T) {
	for _, runs := range []bool{false, true} {
		now := time.Now().Add(8 * 24 * time.Hour)
		records, booter := &pxetest.Leases{}, &pxetest.Booter{}
		newest := now.Add(-8 * 24 * time.Hour)
		if runs {
			newest = now.Add(time.Minute)
		}
		for n, ends := range map[int]time.Time{1: newest, 2: newest.Add(-time.Hour), 3: newest.Add(-2 * time.Hour)} {
			l := pxe.Lease{MAC: mac(n), IP: netip.AddrFrom4([4]byte{127, 0, 77, byte(99 + n)}), Expires: ends}
			if err := records.SaveLease(t.Context(), l); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 5 {
			booter.Set(mac(n+1), pxe.Boot{Action: pxe.Address})
		}
		s, err := Listen(t.Context(), Config{Server: loopback(), Port: 6771, Booter: booter, Leases: records,
			Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
			Subnets: []Subnet{{Prefix: netip.MustParsePrefix("127.0.77.0/24"), First: ip("127.0.77.100"),
				Last: ip("127.0.77.102")}}})
		if err != nil {
			t.Fatal(err)
		}
		on, err := records.Leases(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]bool{mac(1).String(): true, mac(2).String(): !runs}
		for _, l := range on {
			if live := l.Expires.After(now); live != want[l.MAC.String()] {
				t.Errorf("a lease runs: %v; the lease of %v runs on record: %v", runs, l.IP, live)
			}
		}
		_, offer, _ := s.answerTo(t.Context(), request(dhcpv4.MessageTypeDiscover, from(4)))
		if offer == nil || offer.YourIPAddr.String() != "127.0.77.102" {
			t.Errorf("a lease runs: %v; another machine is offered %v, expected 127.0.77.102", runs, offer)
		}
		_, offer, _ = s.answerTo(t.Context(), request(dhcpv4.MessageTypeDiscover, from(5)))
		if (offer == nil) == runs {
			t.Errorf("a lease runs: %v; one more machine is offered %v", runs, offer)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
