package dhcp

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
)

// Grant is a lease that is being acknowledged and the records to write before the machine
// gets it.
type Grant struct {
	Save  bool       // false: the record is good enough
	Lease pxe.Lease  // to be saved; it ends later than promised, so that several boots in a row write once
	Evict *pxe.Lease // when not nil: end this record first, it ran out and Lease has the address now
}

// Current returns the address mac has, for renewals: the one it was offered
// or granted and that has not run out.
func (p *Pool) Current(mac net.HardwareAddr, now time.Time) (netip.Addr, bool) {
	e := p.entries[hwaddr(mac)]
	if e == nil || !e.live(now) {
		return netip.Addr{}, false
	}
	return e.ip, true
}

// Grant leases ip to mac for s.Lease from now. It fails when mac does not hold it.
func (p *Pool) Grant(mac net.HardwareAddr, s Subnet, ip netip.Addr, now time.Time) (Grant, error) {
	hw := hwaddr(mac)
	e := p.entries[hw]
	if e == nil || e.place != s.place(ip) || !e.live(now) {
		return Grant{}, fmt.Errorf("address %v is not held for %v", ip, hw)
	}
	e.acked, e.used = now, false
	if e.static {
		return Grant{}, nil
	}
	e.bound, e.expires = true, now.Add(s.Lease)
	p.reindex(e.place)
	g := Grant{
		Save:  e.stored.Before(e.expires),
		Lease: pxe.Lease{MAC: mac, Subnet: s.Name, IP: ip, Expires: e.expires.Add(s.Lease / 4)},
	}
	if other, ok := p.stored[e.place]; ok && hwaddr(other.MAC) != hw {
		g.Evict = &other
	}
	return g, nil
}

// Saved notes that a grant's lease is on record.
func (p *Pool) Saved(g Grant) {
	hw := hwaddr(g.Lease.MAC)
	if g.Evict != nil {
		delete(p.records, hwaddr(g.Evict.MAC))
	}
	if was, ok := p.records[hw]; ok {
		delete(p.stored, was)
	}
	at := placeOf(g.Lease)
	p.stored[at], p.records[hw] = g.Lease, at
	if e := p.entries[hw]; e != nil && e.place == at {
		e.stored = g.Lease.Expires
	}
}

// Unsaved takes back a grant after its lease could not be put on record. The address stays unused for a while, since
// the record may give it to another machine. If the write ran out of time (late), the machine itself may still get the
// address: it repeats its REQUEST, and a refusal would make its firmware start over. A renewed lease stays as
// recorded, because the machine keeps using it.
func (p *Pool) Unsaved(g Grant, late bool, now time.Time) {
	hw := hwaddr(g.Lease.MAC)
	if e := p.entries[hw]; e != nil && e.place == placeOf(g.Lease) && !e.static {
		if e.stored.After(now) {
			e.expires = e.stored
			return
		}
		p.drop(hw)
		r := refusal{until: now.Add(offerHold)}
		if late {
			r.owner = hw
		}
		p.refuse(e.place, r)
	}
}

// Use notes that the machine with an address has called from it. Neither RELEASE nor
// DECLINE is believed from then on: anybody can send one in a machine's name, and would end
// its boot. A machine looks whether its address is in use before it uses it (RFC 2131
// section 4.4.1), and its lease runs out by itself. The MAC is as Client has it.
func (p *Pool) Use(ip netip.Addr, mac net.HardwareAddr, now time.Time) {
	if hw, ok := p.at(ip, mac, now); ok {
		p.entries[hw].used = true
	}
}

// ToRelease reports whether mac has ip to release, and returns the lease to record before Release. A lease without an
// address means that the record needs no change.
func (p *Pool) ToRelease(mac net.HardwareAddr, ip netip.Addr, now time.Time) (l pxe.Lease, ok bool) {
	e := p.entries[hwaddr(mac)]
	if e == nil || e.ip != ip || e.static || e.used {
		return l, false
	}
	if !e.stored.IsZero() {
		l = pxe.Lease{MAC: mac, Subnet: e.subnet, IP: ip, Expires: now}
	}
	return l, true
}

// Release ends mac's lease of ip at once (RFC 2131 section 4.3.4). The
// address is remembered, so that the machine most likely gets it again.
func (p *Pool) Release(mac net.HardwareAddr, ip netip.Addr, now time.Time) bool {
	if _, ok := p.ToRelease(mac, ip, now); !ok {
		return false
	}
	e := p.entries[hwaddr(mac)]
	e.expires = now
	p.reindex(e.place)
	return true
}

// ToDecline reports whether mac may decline ip, and returns the decline to record before Decline. A decline without an
// address means that the record needs no change: a reservation stays with its machine, and the operator has to find
// the conflict.
func (p *Pool) ToDecline(mac net.HardwareAddr, ip netip.Addr, now time.Time) (d pxe.Decline, ok bool) {
	e := p.entries[hwaddr(mac)]
	if e == nil || e.ip != ip || e.used {
		return d, false
	}
	p.ageRefusals(now)
	if !e.static {
		d = pxe.Decline{MAC: mac, Subnet: e.subnet, IP: ip, Stranger: e.stranger, Until: now}
		if p.declines[hwaddr(mac)] < maxDeclines && p.stockOf(e.place).mayDecline() {
			d.Until = now.Add(declineHold)
		}
	}
	return d, true
}

// Decline notes that mac found ip in use by another host (RFC 2131 section 4.3.3). The address is not offered for an
// hour, unless mac declined several others before, or machines declined many of the pool. Decline returns false when
// mac does not hold ip.
func (p *Pool) Decline(mac net.HardwareAddr, ip netip.Addr, now time.Time) bool {
	d, ok := p.ToDecline(mac, ip, now)
	if ok && d.IP.IsValid() {
		p.drop(hwaddr(mac))
		p.SetAside(d, now)
	}
	return ok
}

// SetAside leaves a declined address alone, as long as it is to be.
func (p *Pool) SetAside(d pxe.Decline, now time.Time) {
	if d.Until.After(now) {
		p.refuse(place{d.Subnet, d.IP}, refusal{until: d.Until, by: hwaddr(d.MAC), strangers: d.Stranger})
	}
}

func (p *Pool) drop(hw hwaddr) {
	e := p.entries[hw]
	e.leave()
	delete(p.entries, hw)
	delete(p.holder, e.place)
	p.reindex(e.place)
}

// Note remembers how a machine that has an address looked on the wire.
func (p *Pool) Note(c pxe.Client) {
	if e := p.entries[hwaddr(c.MAC)]; e != nil {
		e.client = c
	}
}

// at finds the machine that has an address. In racks built alike several machines may have it. Then the MAC decides;
// without a MAC none is found, since the address alone does not identify one.
func (p *Pool) at(ip netip.Addr, mac net.HardwareAddr, now time.Time) (found hwaddr, ok bool) {
	n := 0
	for _, name := range p.names {
		hw, held := p.holder[place{name, ip}]
		if !held || !p.entries[hw].live(now) {
			continue
		}
		if bytes.Equal(hw[:], mac) {
			return hw, true
		}
		found, n = hw, n+1
	}
	return found, n == 1
}

// Client returns the machine that has ip now, as last seen. mac is the MAC in the caller's request, or nil. It only
// matters where machines of several subnets have the address.
func (p *Pool) Client(ip netip.Addr, mac net.HardwareAddr, now time.Time) (pxe.Client, bool) {
	hw, ok := p.at(ip, mac, now)
	if !ok {
		return pxe.Client{}, false
	}
	c := p.entries[hw].client
	c.MAC, c.IP, c.Lent = net.HardwareAddr(hw[:]), ip, p.entries[hw].acked
	if c.Lent.Before(p.began) {
		c.Lent = p.began
	}
	return c, true
}
