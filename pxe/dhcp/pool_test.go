package dhcp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func ip(s string) netip.Addr { return netip.MustParseAddr(s) }

func mac(n int) net.HardwareAddr { return net.HardwareAddr{0x52, 0x54, 0, 0x77, byte(n >> 8), byte(n)} }

func epoch() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func small(n int) Subnet {
	return Subnet{Prefix: netip.MustParsePrefix("10.77.0.0/24"), First: ip("10.77.0.100"),
		Last: fromNumber(number(ip("10.77.0.100")) + uint32(n) - 1), Lease: time.Hour}
}

func newPool(t testing.TB, s Subnet, leases ...pxe.Lease) *Pool {
	t.Helper()
	p, err := NewPool([]Subnet{s}, []netip.Addr{ip("10.77.0.1")}, leases)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPoolOffer(t *testing.T) {
	now := epoch()
	lease := func(n int, a string, static bool, until time.Duration) pxe.Lease {
		return pxe.Lease{MAC: mac(n), IP: ip(a), Static: static, Expires: now.Add(until)}
	}
	for _, tc := range []struct {
		name    string
		pool    int
		leases  []pxe.Lease
		refused string
		wish    string
		want    string // "" means that an error is expected
	}{
		{name: "first free", pool: 3, want: "10.77.0.100"},
		{name: "the wish", pool: 3, wish: "10.77.0.102", want: "10.77.0.102"},
		{name: "a wish outside the pool", pool: 3, wish: "10.77.0.200", want: "10.77.0.100"},
		{name: "a wish for the server", pool: 3, wish: "10.77.0.1", want: "10.77.0.100"},
		{name: "a wish somebody has", pool: 3, wish: "10.77.0.101",
			leases: []pxe.Lease{lease(2, "10.77.0.101", false, time.Hour)}, want: "10.77.0.100"},
		{name: "its own lease beats the wish", pool: 3, wish: "10.77.0.100",
			leases: []pxe.Lease{lease(1, "10.77.0.102", false, time.Hour)}, want: "10.77.0.102"},
		{name: "its own lease that ran out", pool: 3, leases: []pxe.Lease{lease(1, "10.77.0.102", false, -time.Hour)},
			want: "10.77.0.102"},
		{name: "its reservation", pool: 3, leases: []pxe.Lease{lease(1, "10.77.0.7", true, 0)}, want: "10.77.0.7"},
		{name: "a reservation elsewhere", pool: 3, leases: []pxe.Lease{lease(1, "10.88.0.7", true, 0)}},
		{name: "a reservation of the server's address", pool: 3, leases: []pxe.Lease{lease(1, "10.77.0.1", true, 0)}},
		{name: "its lease is outside the pool now", pool: 3, leases: []pxe.Lease{lease(1, "10.77.0.200", false,
			time.Hour)},
			want: "10.77.0.100"},
		{name: "unremembered before run out", pool: 2, leases: []pxe.Lease{lease(2, "10.77.0.100", false, -time.Hour)},
			want: "10.77.0.101"},
		{name: "longest run out", pool: 2, leases: []pxe.Lease{lease(2, "10.77.0.100", false, -time.Hour),
			lease(3, "10.77.0.101", false, -2*time.Hour)}, want: "10.77.0.101"},
		{name: "not somebody's reservation", pool: 2, leases: []pxe.Lease{lease(2, "10.77.0.100", true, 0)},
			want: "10.77.0.101"},
		{name: "not a declined one", pool: 2, refused: "10.77.0.100", want: "10.77.0.101"},
		{name: "exhausted", pool: 1, leases: []pxe.Lease{lease(2, "10.77.0.100", false, time.Hour)}},
		{name: "no pool at all", pool: 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := small(max(tc.pool, 1))
			if tc.pool == 0 {
				s.First, s.Last = netip.Addr{}, netip.Addr{}
			}
			p := newPool(t, s, tc.leases...)
			if tc.refused != "" {
				p.refuse(p.subnets[0].place(ip(tc.refused)), refusal{until: now.Add(time.Minute)})
			}
			var wish netip.Addr
			if tc.wish != "" {
				wish = ip(tc.wish)
			}
			got, err := p.Offer(mac(1), p.subnets[0], wish, false, now)
			if (err != nil) != (tc.want == "") {
				t.Fatalf("got %v, error %v; want %q", got, err, tc.want)
			}
			if err == nil && got != ip(tc.want) {
				t.Errorf("got %v, want %s", got, tc.want)
			}
		})
	}
}

func TestPoolExhaustedIsTyped(t *testing.T) {
	p := newPool(t, small(1))
	if _, err := p.Offer(mac(1), p.subnets[0], netip.Addr{}, false, epoch()); err != nil {
		t.Fatal(err)
	}
	_, err := p.Offer(mac(2), p.subnets[0], netip.Addr{}, false, epoch())
	var full *ExhaustedError
	if !errors.As(err, &full) {
		t.Fatalf("got %v, want an ExhaustedError", err)
	}
	// An offer that is not requested is free again after its minute.
	if _, err := p.Offer(mac(2), p.subnets[0], netip.Addr{}, false, epoch().Add(offerHold+time.Second)); err != nil {
		t.Error(err)
	}
}

func TestPoolDeclineReleaseEvict(t *testing.T) {
	now := epoch()
	p := newPool(t, small(1))
	s := p.subnets[0]
	first := ip("10.77.0.100")
	if _, err := p.Offer(mac(1), s, netip.Addr{}, false, now); err != nil {
		t.Fatal(err)
	}
	g, err := p.Grant(mac(1), s, first, now)
	if err != nil || !g.Save || g.Evict != nil {
		t.Fatalf("got %+v, %v", g, err)
	}
	p.Saved(g)
	if g, _ := p.Grant(mac(1), s, first, now.Add(10*time.Minute)); g.Save {
		t.Error("a boot minutes later writes again")
	}
	if p.Release(mac(2), first, now) || p.Decline(mac(2), first, now) {
		t.Error("a stranger gave back somebody's address")
	}
	if !p.Release(mac(1), first, now) {
		t.Error("the holder could not release")
	}
	if got, err := p.Offer(mac(2), s, netip.Addr{}, false, now); err != nil || got != first {
		t.Fatalf("got %v, %v", got, err)
	}
	g, err = p.Grant(mac(2), s, first, now)
	if err != nil || g.Evict == nil || g.Evict.IP != first || g.Evict.MAC.String() != mac(1).String() {
		t.Fatalf("evicts %v, error %v", g.Evict, err)
	}
	p.Saved(g)
	if !p.Decline(mac(2), first, now) {
		t.Error("the holder could not decline")
	}
	if _, err := p.Offer(mac(2), s, netip.Addr{}, false, now.Add(time.Minute)); err == nil {
		t.Error("a declined address was offered again at once")
	}
	if _, err := p.Offer(mac(2), s, netip.Addr{}, false, now.Add(declineHold+time.Second)); err != nil {
		t.Error(err)
	}
}

func TestPoolReload(t *testing.T) {
	now := epoch()
	p := newPool(t, small(4), pxe.Lease{MAC: mac(9), IP: ip("10.77.0.103"), Static: true})
	s := p.subnets[0]
	for n := range 3 {
		a, err := p.Offer(mac(n+1), s, netip.Addr{}, false, now)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Grant(mac(n+1), s, a, now); err != nil {
			t.Fatal(err)
		}
	}
	// Machine 2's address becomes machine 8's reservation, machine 9's is gone.
	if err := p.Reload([]pxe.Lease{{MAC: mac(8), IP: ip("10.77.0.101"), Static: true}}); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, n := range []int{1, 2, 3, 8, 9} {
		a, ok := p.Current(mac(n), now)
		got[mac(n).String()] = fmt.Sprint(a, ok)
	}
	want := map[string]string{
		"52:54:00:77:00:01": "10.77.0.100 true",
		"52:54:00:77:00:02": "invalid IP false",
		"52:54:00:77:00:03": "10.77.0.102 true",
		"52:54:00:77:00:08": "10.77.0.101 true",
		"52:54:00:77:00:09": "invalid IP false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPoolReloadMoves: a machine with a lease is given a reservation elsewhere.
// It goes on using the address it has until it renews.
func TestPoolReloadMoves(t *testing.T) {
	now := epoch()
	p := newPool(t, small(1))
	s := p.subnets[0]
	old, err := p.Offer(mac(1), s, netip.Addr{}, false, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Grant(mac(1), s, old, now); err != nil {
		t.Fatal(err)
	}
	if err := p.Reload([]pxe.Lease{{MAC: mac(1), IP: ip("10.77.0.7"), Static: true}}); err != nil {
		t.Fatal(err)
	}
	if got, ok := p.Current(mac(1), now); !ok || got != ip("10.77.0.7") {
		t.Errorf("the machine has %v, want its reservation", got)
	}
	if got, err := p.Offer(mac(2), s, netip.Addr{}, false, now.Add(s.Lease/2)); err == nil {
		t.Errorf("%v, which is in use, is offered to another machine", got)
	}
	if _, err := p.Offer(mac(2), s, netip.Addr{}, false, now.Add(s.Lease+time.Second)); err != nil {
		t.Errorf("after its lease the address is still set aside: %v", err)
	}
}

// TestPoolDeclinesAll: one machine that declines every offer leaves addresses for the others.
func TestPoolDeclinesAll(t *testing.T) {
	now := epoch()
	p := newPool(t, small(maxDeclines+2))
	s := p.subnets[0]
	for range 3 * maxDeclines {
		a, err := p.Offer(mac(1), s, netip.Addr{}, false, now)
		if err != nil {
			t.Fatal(err)
		}
		if !p.Decline(mac(1), a, now) {
			t.Fatalf("%v is not believed to decline %v", mac(1), a)
		}
	}
	if n := len(p.refused); n != maxDeclines {
		t.Errorf("%d addresses are left alone, want %d", n, maxDeclines)
	}
	for n := range 2 {
		if _, err := p.Offer(mac(2+n), s, netip.Addr{}, false, now); err != nil {
			t.Errorf("another machine: %v", err)
		}
	}
}

func TestSubnetErrors(t *testing.T) {
	good := small(10)
	for name, change := range map[string]func(*Subnet){
		"ipv6":                 func(s *Subnet) { s.Prefix = netip.MustParsePrefix("fd00::/64") },
		"half a pool":          func(s *Subnet) { s.Last = netip.Addr{} },
		"pool outside":         func(s *Subnet) { s.Last = ip("10.78.0.1") },
		"pool backwards":       func(s *Subnet) { s.First, s.Last = s.Last, s.First },
		"broadcast in pool":    func(s *Subnet) { s.Last = ip("10.77.0.255") },
		"lease under a minute": func(s *Subnet) { s.Lease = time.Second },
		"router outside":       func(s *Subnet) { s.Router = ip("10.78.0.1") },
		"a pool of millions": func(s *Subnet) {
			*s = Subnet{Prefix: netip.MustParsePrefix("10.0.0.0/8"), First: ip("10.0.0.1"), Last: ip("10.255.0.1")}
		},
	} {
		s := good
		change(&s)
		if _, err := NewPool([]Subnet{s}, nil, nil); err == nil {
			t.Errorf("%s: no error", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
	if _, err := NewPool([]Subnet{good, good}, nil, nil); err == nil {
		t.Error("overlapping subnets: no error")
	}
	twice := []pxe.Lease{{MAC: mac(1), IP: ip("10.77.0.9")}, {MAC: mac(2), IP: ip("10.77.0.9")}}
	if _, err := NewPool([]Subnet{good}, nil, twice); err == nil {
		t.Error("an address on record twice: no error")
	}
}

// TestPoolNeverTwice runs random machines against a small pool and checks
// every promise: as long as one machine may use an address, no other is given it.
func TestPoolNeverTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 4).Draw(t, "pool")
		reserved := pxe.Lease{MAC: mac(0), Subnet: "rack-1", IP: ip("10.77.0.101"), Static: true}
		p, err := NewPool(racks(size), nil, []pxe.Lease{reserved})
		if err != nil {
			t.Fatal(err)
		}
		type promise struct {
			who   hwaddr
			until time.Time
			soft  bool // offered to a stranger, and not asked for
		}
		stranger := func(who net.HardwareAddr) bool { return who[5] > 3 }
		promises := map[place]promise{placeOf(reserved): {who: hwaddr(reserved.MAC), until: epoch().AddDate(9, 0, 0)}}
		now := epoch()
		give := func(who net.HardwareAddr, a place, until time.Time, soft bool) {
			old, ok := promises[a]
			if ok && old.who != hwaddr(who) && old.until.After(now) && (!old.soft || stranger(who)) {
				t.Fatalf("%v given to %v while %v has it until %v (now %v)", a, who, old.who, old.until, now)
			}
			for at, p := range promises { // it has left the rack where it had that
				if p.who == hwaddr(who) && at.subnet != a.subnet && at != placeOf(reserved) {
					delete(promises, at)
				}
			}
			if old.until.Before(until) || old.who != hwaddr(who) || old.soft && !soft {
				promises[a] = promise{hwaddr(who), until, soft}
			}
		}
		forget := func(who net.HardwareAddr, a netip.Addr) {
			for at, p := range promises {
				if p.who == hwaddr(who) && at.ip == a && at != placeOf(reserved) {
					delete(promises, at)
				}
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			who := mac(rapid.IntRange(0, 5).Draw(t, "machine"))
			s := p.subnets[rapid.IntRange(0, 1).Draw(t, "rack")]
			a := fromNumber(number(s.First) + uint32(rapid.IntRange(0, 5).Draw(t, "address")))
			switch rapid.IntRange(0, 6).Draw(t, "do") {
			case 0:
				if got, err := p.Offer(who, s, a, stranger(who), now); err == nil {
					give(who, s.place(got), now.Add(offerHold), stranger(who) && !p.entries[hwaddr(who)].bound)
				}
			case 1:
				if l := p.claim(who, s, a, true, stranger(who), now); placeOf(l) == s.place(a) &&
					hwaddr(l.MAC) == hwaddr(who) {
					g, err := p.Grant(who, s, a, now)
					if err != nil {
						t.Fatalf("what %v may claim it is not granted: %v", who, err)
					}
					give(who, s.place(a), now.Add(s.Lease), false)
					if g.Save {
						p.Saved(g)
					}
				}
			case 2:
				if p.Release(who, a, now) {
					forget(who, a)
				}
			case 3:
				if p.Decline(who, a, now) {
					forget(who, a)
				}
			case 4:
				now = now.Add(time.Duration(rapid.IntRange(1, 7200).Draw(t, "seconds")) * time.Second)
			case 5:
				p.own(who, rapid.SampledFrom([]string{"", "blue", "red"}).Draw(t, "owner"))
			case 6:
				if _, err := p.Grant(who, s, a, now); err == nil {
					give(who, s.place(a), now.Add(s.Lease), false)
				}
			}
			checkBooks(t, p)
			checkStocks(t, p, now)
			strangers := map[string]int{}
			for hw, e := range p.entries {
				if e.stranger != stranger(hw[:]) {
					t.Fatalf("%v is taken for a stranger: %t", hw, e.stranger)
				}
				if e.stranger && e.live(now) {
					strangers[e.subnet]++
				}
			}
			for rack, n := range strangers {
				if n > max(1, size/2) {
					t.Fatalf("strangers hold %d of %d addresses of %s", n, size, rack)
				}
			}
		}
	})
}

// checkBooks checks that the pool's maps agree and stay small.
func checkBooks(t *rapid.T, p *Pool) {
	if len(p.entries) != len(p.holder) || len(p.stored) != len(p.records) {
		t.Fatalf("%d entries, %d holders; %d stored, %d records", len(p.entries), len(p.holder), len(p.stored),
			len(p.records))
	}
	for hw, e := range p.entries {
		if p.holder[e.place] != hw {
			t.Fatalf("%v has %v, but %v holds it", hw, e.place, p.holder[e.place])
		}
	}
	for hw, a := range p.records {
		if hwaddr(p.stored[a].MAC) != hw {
			t.Fatalf("%v on record for %v, but also for %v", a, hw, p.stored[a])
		}
	}
}
