package dhcp

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ferrite-metal/ferrite/pxe"
)

// checkStocks compares the stocks of a pool with a walk over all addresses.
func checkStocks(t *rapid.T, p *Pool, now time.Time) {
	for _, st := range p.stocks {
		p.age(st, now)
		want, strangers, declined, owned := map[string]int{}, 0, 0, map[string]int{}
		for i := range st.free.size {
			a := st.address(i)
			hw, held := p.holder[st.place(a)]
			refused := p.refused[st.place(a)].until.After(now)
			if st.free.has(i) != (!held && !refused && !p.taken[a]) {
				t.Fatalf("%v: free %t, held %t, set aside %t", a, st.free.has(i), held, refused)
			}
			if e := p.entries[hw]; held && !refused && !e.static && !p.taken[a] {
				want[fmt.Sprintf("stranger %t live %t bound %t", e.stranger, e.live(now), e.bound && e.live(now))]++
			}
			if r := p.refused[st.place(a)]; refused && r.by != (hwaddr{}) {
				declined++
				if r.strangers {
					strangers++
				}
			}
		}
		for _, e := range st.enrolled {
			owned[e.owner]++
		}
		if fmt.Sprint(owned) != fmt.Sprint(st.owned) {
			t.Fatalf("%v: leases of projects %v, counted %v", st.Subnet, owned, st.owned)
		}
		got := map[string]int{}
		for _, q := range []queue{st.strangers, st.offers, st.enrolled, st.strangersOver, st.enrolledOver} {
			for i, e := range q {
				if e.at != i || i > 0 && e.expires.Before(q[0].expires) {
					t.Fatalf("%v: not in its order", e.place)
				}
				got[fmt.Sprintf("stranger %t live %t bound %t", e.stranger, e.live(now), e.bound && e.live(now))]++
			}
		}
		if fmt.Sprint(want) != fmt.Sprint(got) || strangers != st.aside || declined != st.declined {
			t.Fatalf("%v: lists %v, %d set aside of %d, found %v, %d of %d", st.Subnet, got, st.aside, st.declined, want,
				strangers, declined)
		}
	}
	byMachine := map[hwaddr]int{}
	for _, r := range p.refused {
		byMachine[r.by]++
	}
	if fmt.Sprint(byMachine) != fmt.Sprint(p.declines) {
		t.Fatalf("declined %v, counted %v", byMachine, p.declines)
	}
}

// TestBitmap: the lowest number of a set is found after any insertions and deletions.
func TestBitmap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 300).Draw(t, "size")
		b, set := newBitmap(size), make([]bool, size)
		for range 50 {
			i, in := rapid.IntRange(0, size-1).Draw(t, "number"), rapid.Bool().Draw(t, "in")
			b.set(i, in)
			set[i] = in
			from := rapid.IntRange(0, size-1).Draw(t, "from")
			want := -1
			for k := from; k < size && want < 0; k++ {
				if set[k] {
					want = k
				}
			}
			if got := b.next(from); got != want || b.has(i) != in {
				t.Fatalf("from %d: got %d, want %d", from, got, want)
			}
		}
	})
}

// TestLargePool: a new machine costs the same with many leases as with none.
func TestLargePool(t *testing.T) {
	s := Subnet{Prefix: netip.MustParsePrefix("10.0.0.0/12"), First: ip("10.0.1.0"), Last: ip("10.15.255.0"),
		Lease: time.Hour}
	p := newPool(t, s)
	s = p.subnets[0]
	began := time.Now()
	const many = 30_000 // a walk over them for each takes minutes
	for i := range many {
		hw := []byte{2, 0, 0, byte(i >> 16), byte(i >> 8), byte(i)}
		a, err := p.Offer(hw, s, netip.Addr{}, i%3 == 0, epoch())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Grant(hw, s, a, epoch()); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("%d machines took %v", many, took)
	}
}

// TestProbedFirst: addresses without an answer are offered first, an address with an answer is not offered, and no
// machine waits when none is probed yet.
func TestProbedFirst(t *testing.T) {
	now := epoch()
	p := newPool(t, small(4), pxe.Lease{MAC: mac(9), IP: ip("10.77.0.103"), Expires: now.Add(-time.Hour)})
	p.probing = true
	s, st := p.subnets[0], p.stocks[0]
	want := []string{"10.77.0.100", "10.77.0.101", "10.77.0.102", "10.77.0.103"}
	if got := fmt.Sprint(p.probes(st, now)); got != fmt.Sprint(want) {
		t.Fatalf("probes %s", got)
	}
	if got, _ := p.Offer(mac(1), s, netip.Addr{}, false, now); got != ip("10.77.0.100") {
		t.Errorf("before any is probed: %v", got)
	}
	if p.answered(st, ip("10.77.0.100"), hwaddr{2}, now) {
		t.Error("an address that was lent meanwhile is set aside")
	}
	if p.silent(st, ip("10.77.0.100"), now); len(st.probed) != 0 {
		t.Error("an address that was lent meanwhile counts as a free one: every request would look for such")
	}
	if !p.answered(st, ip("10.77.0.101"), hwaddr{2}, now) || !p.answered(st, ip("10.77.0.103"), hwaddr(mac(9)), now) {
		t.Error("an address in use is not set aside")
	}
	p.silent(st, ip("10.77.0.102"), now)
	if got := p.probes(st, now); len(got) != 0 {
		t.Errorf("probes %v again", got)
	}
	if got, _ := p.Offer(mac(2), s, ip("10.77.0.101"), false, now); got != ip("10.77.0.102") {
		t.Errorf("instead of the wished one, which is in use: %v", got)
	}
	if got, err := p.Offer(mac(3), s, netip.Addr{}, false, now); err == nil {
		t.Errorf("an address in use is offered: %v", got)
	}
	if got, err := p.Offer(mac(9), s, netip.Addr{}, false, now); got != ip("10.77.0.103") {
		t.Errorf("the machine that answers at its former address gets %v, %v", got, err)
	}
	later := now.Add(probeFresh)
	got := slices.SortedFunc(slices.Values(p.probes(st, later)), netip.Addr.Compare)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("later probes %s", got)
	}
}

// FuzzARP: no packet on a link makes the parser read beyond its end.
func FuzzARP(f *testing.F) {
	f.Add([]byte{0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0, 0, 0, 1, 10, 77, 0, 100, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{0, 1, 8, 0, 6, 4, 0, 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		a, by := parseARP(b)
		if (a.IsValid() || by != hwaddr{}) && len(b) < arpSize {
			t.Errorf("%d bytes are of %v at %v", len(b), by, a)
		}
	})
}
