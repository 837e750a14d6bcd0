package dhcp

import (
	"net/netip"
	"testing"
	"time"
)

// TestForgedGivingBack: RELEASE or DECLINE in the name of a machine that boots does not take its address. They count
// before the machine has used the address, and after the next lease.
func TestForgedGivingBack(t *testing.T) {
	now, at := epoch(), ip("10.77.0.100")
	for name, giveBack := range map[string]func(*Pool) bool{
		"RELEASE": func(p *Pool) bool { return p.Release(mac(1), at, now) },
		"DECLINE": func(p *Pool) bool { return p.Decline(mac(1), at, now) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPool(t, small(1))
			lease := func() {
				t.Helper()
				if _, err := p.Offer(mac(1), small(1), netip.Addr{}, false, now); err != nil {
					t.Fatal(err)
				}
				if _, err := p.Grant(mac(1), small(1), at, now); err != nil {
					t.Fatal(err)
				}
			}
			lease()
			p.Use(at, nil, now)
			if giveBack(p) {
				t.Error("it is believed of an address in use")
			}
			if c, ok := p.Client(at, nil, now.Add(time.Minute)); !ok || c.MAC.String() != mac(1).String() {
				t.Errorf("the address is %v's, %v", c.MAC, ok)
			}
			lease()
			if !giveBack(p) {
				t.Error("it is not believed of an address that was not used")
			}
		})
	}
}
