package dhcp

import (
	"net"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
)

// availability orders addresses by how soon another machine may get them.
type availability int

// Addresses are given to another machine in this order; unavailable ones never.
const (
	unheld         availability = iota // no machine remembers it
	strangersOver                      // a stranger's lease that ran out
	strangersOffer                     // offered to a stranger that has not requested it; free for enrolled machines alone
	enrolledOver                       // an enrolled machine's lease that ran out: the address identifies the machine
	unavailable
)

// availability checks an address for hw, which may be unknown.
func (p *Pool) availability(a place, hw hwaddr, stranger bool, now time.Time) availability {
	if p.taken[a.ip] || p.refused[a].against(hw, now) {
		return unavailable
	}
	other, held := p.holder[a]
	if !held || other == hw {
		return unheld
	}
	switch e := p.entries[other]; {
	case !e.live(now) && e.stranger:
		return strangersOver
	case !e.live(now):
		return enrolledOver
	case e.stranger && !e.bound && !stranger:
		return strangersOffer
	}
	return unavailable
}

// pick finds an address for hw. The wish wins if no enrolled machine remembers it. Otherwise the most available
// address is taken, and among equals the longest expired, so that machines tend to keep theirs.
func (p *Pool) pick(hw hwaddr, st *stock, wish netip.Addr, stranger bool, now time.Time) (netip.Addr, error) {
	p.age(st, now)
	if stranger && p.full(st, now) {
		return netip.Addr{}, &ExhaustedError{Subnet: st.Subnet, Stranger: true}
	}
	if st.inRange(wish) && p.availability(st.place(wish), hw, stranger, now) <= strangersOver &&
		(!p.probing || st.fresh(wish, now)) {
		return wish, nil
	}
	if a, ok := st.lowest(p.probing, now); ok {
		return a, nil
	}
	for _, q := range []queue{st.strangersOver, st.offers, st.enrolledOver} {
		if len(q) > 0 && p.availability(q[0].place, hw, stranger, now) != unavailable {
			return q[0].ip, nil
		}
	}
	return netip.Addr{}, &ExhaustedError{Subnet: st.Subnet}
}

// full reports whether strangers hold their half of a pool. Declined addresses count: the
// decline may be invented.
func (p *Pool) full(st *stock, now time.Time) bool {
	if !st.First.IsValid() {
		return true
	}
	p.age(st, now)
	return len(st.strangers)+len(st.offers)+st.aside >= st.half()
}

// hasShare reports whether a machine gets no address since the project that owns it has its share: half of a pool of
// which at most an eighth is left, which is for the others. A machine that has an address keeps it.
func (p *Pool) hasShare(mac net.HardwareAddr, s Subnet, owner string, now time.Time) bool {
	if e := p.entries[hwaddr(mac)]; owner == "" || e != nil && e.live(now) {
		return false
	}
	st := p.stock(s)
	p.age(st, now)
	return st.owned[owner] >= st.half() && st.left() <= st.free.size/8
}

// own notes which project owns a machine.
func (p *Pool) own(mac net.HardwareAddr, owner string) {
	if e := p.entries[hwaddr(mac)]; e != nil && e.owner != owner {
		e.count(owner, e.counted)
	}
}

// leased is the machines that have, or had, an address for a time.
func (p *Pool) leased() (all []pxe.Client) {
	for hw, e := range p.entries {
		if !e.static {
			all = append(all, pxe.Client{MAC: net.HardwareAddr(hw[:]), IP: e.ip})
		}
	}
	return all
}

// mark notes whether a machine is a stranger.
func (p *Pool) mark(mac net.HardwareAddr, stranger bool) {
	if e := p.entries[hwaddr(mac)]; e != nil && e.stranger != (stranger && !e.static) {
		e.stranger = stranger && !e.static
		p.reindex(e.place)
	}
}
