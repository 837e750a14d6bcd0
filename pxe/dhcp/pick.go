package dhcp

import (
	"net"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
)

// standing is how near an address is to being given to another machine.
type standing int

// The standings, from the address that is given away first to the one that is not
// given away at all.
const (
	unheld         standing = iota // nobody remembers it
	strangersOver                  // a stranger's lease that ran out
	strangersOffer                 // offered to a stranger, who has not asked for it; to enrolled machines alone
	enrolledOver                   // an enrolled machine's lease that ran out: it proves who the machine is when it boots
	unavailable
)

// standing checks an address for hw, which may be unknown.
func (p *Pool) standing(a place, hw hwaddr, stranger bool, now time.Time) standing {
	if p.taken[a.ip] || p.refused[a].until.After(now) {
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

// pick finds an address for hw: the wish if no enrolled machine remembers it, else
// the one that stands lowest, of these the one that ran out longest ago, so that
// machines tend to keep theirs.
func (p *Pool) pick(hw hwaddr, s Subnet, wish netip.Addr, stranger bool, now time.Time) (netip.Addr, error) {
	if stranger && p.full(s, now) {
		return netip.Addr{}, &ExhaustedError{Subnet: s, Stranger: true}
	}
	if s.inRange(wish) && p.standing(s.place(wish), hw, stranger, now) <= strangersOver {
		return wish, nil
	}
	var best netip.Addr
	var since time.Time
	lowest := unavailable
	for a := s.First; s.inRange(a); a = a.Next() {
		at := p.standing(s.place(a), hw, stranger, now)
		if at == unheld {
			return a, nil
		}
		if at == unavailable || at > lowest {
			continue
		}
		if e := p.entries[p.holder[s.place(a)]]; at < lowest || e.expires.Before(since) {
			best, since, lowest = a, e.expires, at
		}
	}
	if lowest == unavailable {
		return best, &ExhaustedError{Subnet: s}
	}
	return best, nil
}

// full reports whether strangers hold their half of a pool. Declined addresses count: the
// decline may be invented.
func (p *Pool) full(s Subnet, now time.Time) bool {
	if !s.First.IsValid() {
		return true
	}
	n := 0
	for _, e := range p.entries {
		if e.stranger && e.live(now) && s.lends(e.place) {
			n++
		}
	}
	for a, r := range p.refused {
		if r.strangers && r.until.After(now) && s.lends(a) {
			n++
		}
	}
	half := (int(number(s.Last)-number(s.First)) + 1) / 2
	return n >= max(1, half)
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
	if e := p.entries[hwaddr(mac)]; e != nil {
		e.stranger = stranger && !e.static
	}
}
