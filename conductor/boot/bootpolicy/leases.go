package bootpolicy

import (
	"context"
	"net"
	"net/netip"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/pxe"
)

// Leases lists all leases and reservations. An invalid row is left out, so that it does not keep the others' machines
// from their addresses.
func (p *Policy) Leases(ctx context.Context) ([]pxe.Lease, error) {
	stored, err := p.Engine.Leases(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]pxe.Lease, 0, len(stored))
	for _, l := range stored {
		mac, badMAC := net.ParseMAC(l.MAC)
		ip, badIP := netip.ParseAddr(l.IP)
		if badMAC != nil || badIP != nil || len(mac) != ethernet || !ip.Is4() {
			p.Log.Error("a lease on record is left alone: expected a MAC of six bytes and an IPv4 address; delete "+
				"it", "mac",
				l.MAC, "ip", l.IP)
			continue
		}
		out = append(out, pxe.Lease{MAC: mac, Subnet: l.Subnet, IP: ip, Static: l.Static, Expires: l.Expires})
	}
	return out, nil
}

// ethernet is the bytes of a MAC that DHCP lends addresses to.
const ethernet = 6

// SaveLease inserts or replaces the leases of MACs, all or none: none where one of them has a reservation.
func (p *Policy) SaveLease(ctx context.Context, leases ...pxe.Lease) error {
	all := make([]node.Lease, len(leases))
	for i, l := range leases {
		all[i] = stored(l)
	}
	return p.Engine.SaveLease(ctx, all...)
}

// EndLease forgets a lease that is on record as it was read.
func (p *Policy) EndLease(ctx context.Context, l pxe.Lease) error {
	return p.Engine.EndLease(ctx, stored(l))
}

// Declines lists the addresses that machines found in use by others. A row that is none is left out.
func (p *Policy) Declines(ctx context.Context) ([]pxe.Decline, error) {
	stored, err := p.Engine.Declines(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]pxe.Decline, 0, len(stored))
	for _, d := range stored {
		mac, badMAC := net.ParseMAC(d.MAC)
		ip, badIP := netip.ParseAddr(d.IP)
		if badMAC != nil || badIP != nil || len(mac) != ethernet || !ip.Is4() {
			p.Log.Error("a declined address on record is left alone: expected a MAC of six bytes and an IPv4 address", "mac",
				d.MAC, "ip", d.IP)
			continue
		}
		out = append(out, pxe.Decline{MAC: mac, Subnet: d.Subnet, IP: ip, Stranger: d.Stranger, Until: d.Until})
	}
	return out, nil
}

// SaveDecline sets an address aside.
func (p *Policy) SaveDecline(ctx context.Context, d pxe.Decline) error {
	return p.Engine.SaveDecline(ctx, node.Decline{MAC: d.MAC.String(), Subnet: d.Subnet, IP: d.IP.String(),
		Stranger: d.Stranger, Until: d.Until})
}

func stored(l pxe.Lease) node.Lease {
	return node.Lease{MAC: l.MAC.String(), Subnet: l.Subnet, IP: l.IP.String(), Static: l.Static, Expires: l.Expires}
}
