package dhcp

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/ferrite-metal/ferrite/pxe"
)

// strangersTake has n strangers ask for addresses, and answers how many got one.
func strangersTake(p *Pool, n int, now time.Time) (got int) {
	for i := range n {
		if _, err := p.Offer(mac(1000+i), p.subnets[0], netip.Addr{}, true, now); err == nil {
			got++
		}
	}
	return got
}

// TestStrangersHalf: however many strangers ask, they get half of the pool. Enrolled machines get the rest, and
// addresses that are only offered to strangers.
func TestStrangersHalf(t *testing.T) {
	now := epoch()
	p := newPool(t, small(20))
	s := p.subnets[0]
	if got := strangersTake(p, 140, now); got != 10 {
		t.Errorf("strangers got %d of 20 addresses", got)
	}
	_, err := p.Offer(mac(2000), s, netip.Addr{}, true, now)
	var full *ExhaustedError
	if !errors.As(err, &full) || !full.Stranger {
		t.Errorf("one more stranger: %v", err)
	}
	if l := p.claim(mac(2000), s, ip("10.77.0.119"), true, true, now); l.IP.IsValid() {
		t.Errorf("one more stranger that does not wait for an offer got %v", l.IP)
	}
	if _, err := p.Grant(mac(1000), s, p.entries[hwaddr(mac(1000))].ip, now); err != nil { // has asked for it
		t.Fatal(err)
	}
	for i := range 19 {
		a, err := p.Offer(mac(i+1), s, netip.Addr{}, false, now)
		if err != nil {
			t.Fatalf("enrolled machine %d: %v", i+1, err)
		}
		if _, err := p.Grant(mac(i+1), s, a, now); err != nil {
			t.Fatal(err)
		}
	}
	full = nil
	if _, err := p.Offer(mac(50), s, netip.Addr{}, false, now); !errors.As(err, &full) || full.Stranger {
		t.Errorf("with every address lent: %v", err)
	}
	if _, ok := p.Current(mac(1000), now); !ok {
		t.Error("the stranger that was granted its address has lost it")
	}
}

// TestProjectsShare: machines of a project with half of a pool get none of its last eighth. Machines of other projects
// do, and a machine with an address keeps it.
func TestProjectsShare(t *testing.T) {
	now := epoch()
	p := newPool(t, small(32))
	s := p.subnets[0]
	ask := func(n int, owner string) error {
		lease, err := bindingFor(p, request(dhcpv4.MessageTypeDiscover, from(n)), s, ip("10.77.0.1"),
			pxe.Boot{Owner: owner}, now)
		if err == nil {
			_, err = p.Grant(mac(n), s, lease.IP, now)
		}
		return err
	}
	for i := range 28 {
		if err := ask(i, "blue"); err != nil {
			t.Fatalf("machine %d of a project that is alone: %v", i, err)
		}
	}
	var full *ExhaustedError
	if err := ask(28, "blue"); !errors.As(err, &full) || full.Owner != "blue" {
		t.Errorf("one more of blue: %v", err)
	}
	for i, owner := range []string{"red", "", "red"} {
		if err := ask(100+i, owner); err != nil {
			t.Errorf("a machine of %q: %v", owner, err)
		}
	}
	if err := ask(3, "blue"); err != nil {
		t.Errorf("one that has an address: %v", err)
	}
	if err := ask(29, "blue"); !errors.As(err, &full) {
		t.Errorf("blue takes the last one: %v", err)
	}
	now = now.Add(s.Lease + time.Second) // all have run out
	if err := ask(29, "blue"); err != nil {
		t.Errorf("with all addresses free again: %v", err)
	}
}

// TestStrangersLeaseIsTheirs: a stranger with an address renews it, also when strangers have their half. After it ran
// out the machine is one more stranger.
func TestStrangersLeaseIsTheirs(t *testing.T) {
	now := epoch()
	p := newPool(t, small(4))
	s := p.subnets[0]
	if got := strangersTake(p, 9, now); got != 2 {
		t.Fatalf("strangers got %d of 4 addresses", got)
	}
	if _, err := p.Offer(mac(1000), s, netip.Addr{}, true, now.Add(time.Second)); err != nil {
		t.Errorf("a stranger that asks again: %v", err)
	}
	later := now.Add(2 * time.Hour)
	for i := range 2 {
		if _, err := p.Offer(mac(3000+i), s, netip.Addr{}, true, later); err != nil {
			t.Errorf("later, another stranger: %v", err)
		}
	}
	if got := strangersTake(p, 2, later); got != 0 {
		t.Errorf("%d strangers whose leases ran out got another beyond the half", got)
	}
	p.mark(mac(3000), false) // now enrolled
	if _, err := p.Offer(mac(2000), s, netip.Addr{}, true, later); err != nil {
		t.Errorf("another stranger instead: %v", err)
	}
}

// TestEnrolledLeasesLast: the expired lease of an enrolled machine goes to another machine when nothing else is left,
// and no wish changes that.
func TestEnrolledLeasesLast(t *testing.T) {
	now := epoch()
	over := func(n int, a string) pxe.Lease {
		return pxe.Lease{MAC: mac(n), IP: ip(a), Expires: now.Add(-time.Hour)}
	}
	p := newPool(t, small(4), over(1, "10.77.0.100"), over(1001, "10.77.0.101"), over(2, "10.77.0.102"))
	p.mark(mac(1001), true)
	s := p.subnets[0]
	for i, want := range []string{"10.77.0.103", "10.77.0.101", "10.77.0.101", "10.77.0.100"} {
		stranger := i == 1 // the third takes its address
		got, err := p.Offer(mac(10+i), s, ip("10.77.0.100"), stranger, now.Add(time.Duration(i)*time.Second))
		if err != nil || got != ip(want) {
			t.Errorf("machine %d: got %v, %v, want %s", 10+i, got, err, want)
		}
	}
	if l := p.claim(mac(20), s, ip("10.77.0.102"), true, true, now); l.IP.IsValid() {
		t.Errorf("a stranger renews what an enrolled machine remembers: %v", l)
	}
	if got, err := p.Offer(mac(2), s, netip.Addr{}, false, now); err != nil || got != ip("10.77.0.102") {
		t.Errorf("the machine comes back: %v, %v", got, err)
	}
}

// TestStrangersDecline: strangers cannot have more than their half set aside.
func TestStrangersDecline(t *testing.T) {
	now := epoch()
	p := newPool(t, small(20))
	s := p.subnets[0]
	for i := range 100 {
		if a, err := p.Offer(mac(1000+i), s, netip.Addr{}, true, now); err == nil {
			p.Decline(mac(1000+i), a, now)
		}
	}
	for i := range 10 {
		if _, err := p.Offer(mac(i), s, netip.Addr{}, false, now); err != nil {
			t.Fatalf("enrolled machine %d: %v", i, err)
		}
	}
}

// TestProjectsDecline: the machines of one project cannot have a pool set aside. Their leases and declines together
// leave the last eighth to others.
func TestProjectsDecline(t *testing.T) {
	now := epoch()
	p := newPool(t, small(32))
	s := p.subnets[0]
	ask := func(n int, owner string) (netip.Addr, error) {
		lease, err := bindingFor(p, request(dhcpv4.MessageTypeDiscover, from(n)), s, ip("10.77.0.1"),
			pxe.Boot{Owner: owner}, now)
		return lease.IP, err
	}
	for i := range 8 * maxDeclines {
		if a, err := ask(i/maxDeclines, "blue"); err == nil {
			p.Decline(mac(i/maxDeclines), a, now)
		}
	}
	if n := len(p.refused); n != 8 {
		t.Errorf("%d addresses are set aside, want a quarter", n)
	}
	for i := range 32 {
		_, _ = ask(i, "blue") // as many as it may have
	}
	for i := range 4 {
		if _, err := ask(100+i, "red"); err != nil {
			t.Errorf("machine %d of another project: %v", i, err)
		}
	}
}

// TestStrangersAfterReload: reading the records anew does not make strangers known.
func TestStrangersAfterReload(t *testing.T) {
	now := epoch()
	p := newPool(t, small(20))
	var leases []pxe.Lease
	for i := range 10 {
		a, err := p.Offer(mac(1000+i), p.subnets[0], netip.Addr{}, true, now)
		if err != nil {
			t.Fatal(err)
		}
		g, err := p.Grant(mac(1000+i), p.subnets[0], a, now)
		if err != nil {
			t.Fatal(err)
		}
		p.Saved(g)
		leases = append(leases, g.Lease)
	}
	if err := p.Reload(leases); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Offer(mac(2000), p.subnets[0], netip.Addr{}, true, now); err == nil {
		t.Error("strangers got more than half of the pool")
	}
}
