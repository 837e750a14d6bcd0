package dhcp

import (
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
)

// TestLent: when a machine was last given its address. An offer gives none; of a lease on
// record it is known only that it was given before this conductor began.
func TestLent(t *testing.T) {
	now := epoch()
	for name, reserved := range map[string]bool{"leased": false, "reserved": true} {
		t.Run(name, func(t *testing.T) {
			p := newPool(t, small(2),
				pxe.Lease{MAC: mac(1), IP: ip("10.77.0.100"), Static: reserved, Expires: now.Add(24 * time.Hour)})
			p.began = now
			lent := func(want time.Time) {
				t.Helper()
				if c, ok := p.Client(ip("10.77.0.100"), nil, now); !ok || !c.Lent.Equal(want) {
					t.Errorf("lent at %v, expected %v", c.Lent, want)
				}
			}
			lent(now)
			later := now.Add(time.Minute)
			if _, err := p.Offer(mac(1), small(2), ip("10.77.0.100"), false, later); err != nil {
				t.Fatal(err)
			}
			lent(now)
			if _, err := p.Grant(mac(1), small(2), ip("10.77.0.100"), later); err != nil {
				t.Fatal(err)
			}
			lent(later)
			if err := p.Reload(
				[]pxe.Lease{{MAC: mac(1), IP: ip("10.77.0.100"), Static: reserved, Expires: now.Add(24 * time.Hour)}}); err != nil {
				t.Fatal(err)
			}
			lent(later)
		})
	}
}
