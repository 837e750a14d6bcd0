package dhcp

import (
	"net"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

// bindingFor finds the lease that Reply answers req from, and holds an address for a DISCOVER or a valid REQUEST.
func bindingFor(p *Pool, req *dhcpv4.DHCPv4, s Subnet, server netip.Addr, b pxe.Boot,
	now time.Time) (pxe.Lease, error) {
	mac, kind := req.ClientHWAddr, messageType(req)
	if kind != dhcpv4.MessageTypeInform && p.hasShare(mac, s, b.Owner, now) {
		return pxe.Lease{}, &ExhaustedError{Subnet: s, Owner: b.Owner}
	}
	defer p.own(mac, b.Owner)
	switch kind {
	case dhcpv4.MessageTypeDiscover:
		ip, err := p.Offer(mac, s, addr(req.RequestedIPAddress()), b.Stranger, now)
		return pxe.Lease{MAC: mac, Subnet: s.Name, IP: ip}, err
	case dhcpv4.MessageTypeRequest:
		// An offer of ours that ran out meanwhile, or a renewal of an address that no other machine has, is as good as
		// a record. An address a rebooted client merely remembers is not (RFC 2131 section 4.3.2).
		adopt := addr(req.ServerIdentifier()) == server || addr(req.ClientIPAddr).IsValid()
		return p.claim(mac, s, requestedIP(req), adopt, b.Stranger, now), nil
	default:
		return pxe.Lease{}, nil
	}
}

// strangers reports whether a stranger may take an address that is free without it
// having been offered.
func (p *Pool) strangers(a netip.Addr, hw hwaddr, s Subnet, now time.Time) bool {
	return !p.full(p.stock(s), now) && p.availability(s.place(a), hw, true, now) <= strangersOver
}

// claim returns the lease that decides a REQUEST for want: mac's own lease, else another machine's lease of want, else
// none. With adopt, mac gets want when it is free.
func (p *Pool) claim(mac net.HardwareAddr, s Subnet, want netip.Addr, adopt, stranger bool, now time.Time) pxe.Lease {
	hw := hwaddr(mac)
	if e := p.entries[hw]; e != nil && e.live(now) {
		p.mark(mac, stranger)
		return pxe.Lease{MAC: mac, Subnet: e.subnet, IP: e.ip}
	}
	if other, held := p.holder[s.place(want)]; held && other != hw && p.entries[other].live(now) {
		return pxe.Lease{MAC: net.HardwareAddr(other[:]), Subnet: s.Name, IP: want}
	}
	e := p.entries[hw]
	adopt = adopt || (e != nil && e.place == s.place(want)) // it ran out, and no other machine took it
	if !adopt || !s.inRange(want) || !p.free(s.place(want), hw, now) || stranger && !p.strangers(want, hw, s, now) {
		return pxe.Lease{}
	}
	if e == nil || e.place != s.place(want) {
		p.assign(hw, s.place(want), stranger)
	}
	p.entries[hw].stranger = stranger
	p.entries[hw].hold(now)
	p.reindex(s.place(want))
	return pxe.Lease{MAC: mac, Subnet: s.Name, IP: want}
}
