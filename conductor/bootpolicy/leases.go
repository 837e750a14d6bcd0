package bootpolicy

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/pxe"
)

// Leases lists what was handed out and reserved.
func (p *Policy) Leases(ctx context.Context) ([]pxe.Lease, error) {
	stored, err := p.Engine.Leases(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]pxe.Lease, 0, len(stored))
	for _, l := range stored {
		mac, err := net.ParseMAC(l.MAC)
		if err != nil {
			return nil, fmt.Errorf("stored lease of %q: %w", l.MAC, err)
		}
		ip, err := netip.ParseAddr(l.IP)
		if err != nil {
			return nil, fmt.Errorf("stored lease of %s: %w", l.MAC, err)
		}
		out = append(out, pxe.Lease{MAC: mac, IP: ip, Static: l.Static, Expires: l.Expires})
	}
	return out, nil
}

// SaveLease inserts or replaces the lease of a MAC, unless it has a reservation.
func (p *Policy) SaveLease(ctx context.Context, l pxe.Lease) error {
	return p.Engine.SaveLease(ctx, stored(l))
}

// EndLease forgets a lease that is on record as it was read.
func (p *Policy) EndLease(ctx context.Context, l pxe.Lease) error {
	return p.Engine.EndLease(ctx, stored(l))
}

func stored(l pxe.Lease) node.Lease {
	return node.Lease{MAC: l.MAC.String(), IP: l.IP.String(), Static: l.Static, Expires: l.Expires}
}
