package dhcp

import (
	"net/netip"
	"slices"
	"time"
)

const (
	// probedAhead is how many addresses of a pool are probed before a machine asks for one.
	probedAhead = 256
	// probeFresh is how long an address counts as free after a probe without an answer, and as used after one with.
	probeFresh = 10 * time.Minute
)

// fresh reports whether a probe of an address has got no answer lately.
func (st *stock) fresh(a netip.Addr, now time.Time) bool { return now.Sub(st.probed[a]) < probeFresh }

// probes lists the addresses of a subnet that are given away next and were not probed lately.
func (p *Pool) probes(st *stock, now time.Time) (all []netip.Addr) {
	p.age(st, now)
	for a := range st.probed {
		if !st.fresh(a, now) {
			delete(st.probed, a)
		}
	}
	n := 0
	add := func(a netip.Addr) bool {
		if n++; !st.fresh(a, now) {
			all = append(all, a)
		}
		return n < probedAhead
	}
	for i := st.free.next(0); i >= 0; i = st.free.next(i + 1) {
		if !add(st.address(i)) {
			return all
		}
	}
	for _, e := range slices.Concat(st.strangersOver[:min(len(st.strangersOver), probedAhead)],
		st.enrolledOver[:min(len(st.enrolledOver), probedAhead)]) { // a heap begins with those that ran out first
		if !add(e.ip) {
			break
		}
	}
	return all
}

// silent notes that a probe of an address got no answer, unless it was leased meanwhile.
func (p *Pool) silent(st *stock, a netip.Addr, now time.Time) {
	if hw, held := p.holder[st.place(a)]; !held || !p.entries[hw].live(now) {
		st.probed[a] = now
	}
}

// answered notes that a host answered at an address, and sets the address aside. An address that was leased meanwhile
// stays leased. A machine that still uses its old address keeps it; by is zero for an unknown host.
func (p *Pool) answered(st *stock, a netip.Addr, by hwaddr, now time.Time) bool {
	at := st.place(a)
	hw, held := p.holder[at]
	switch {
	case held && p.entries[hw].live(now):
		return false
	case held && hw != by:
		p.drop(hw)
		hw = hwaddr{}
	}
	p.refuse(at, refusal{until: now.Add(probeFresh), owner: hw})
	return true
}
