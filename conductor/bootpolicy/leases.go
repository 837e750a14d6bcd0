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

// SaveLease inserts or replaces the lease of a MAC.
func (p *Policy) SaveLease(ctx context.Context, l pxe.Lease) error {
	return p.Engine.SaveLease(ctx, node.Lease{MAC: l.MAC.String(), IP: l.IP.String(), Static: l.Static, Expires: l.Expires})
}

// DeleteLease forgets the lease of a MAC.
func (p *Policy) DeleteLease(ctx context.Context, mac net.HardwareAddr) error {
	return p.Engine.DeleteLease(ctx, mac.String())
}
