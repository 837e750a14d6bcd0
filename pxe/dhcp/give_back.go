package dhcp

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

// giveBack handles RELEASE and DECLINE, which get no answer. The pool believes only the machine that has the address.
// Its word is on record before it counts: a machine says it once, and a conductor may end at any moment.
func (s *Server) giveBack(ctx context.Context, req *dhcpv4.DHCPv4) error {
	if id := addr(req.ServerIdentifier()); id.IsValid() && id != s.conf.Server {
		return nil
	}
	s.recordMu.RLock()
	defer s.recordMu.RUnlock()
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if messageType(req) == dhcpv4.MessageTypeRelease {
		return s.release(ctx, req.ClientHWAddr, addr(req.ClientIPAddr))
	}
	return s.decline(ctx, req.ClientHWAddr, requestedIP(req))
}

// release ends a lease. The address is remembered, so that the machine most likely gets it again.
func (s *Server) release(ctx context.Context, mac net.HardwareAddr, ip netip.Addr) error {
	now := s.conf.Now()
	s.mu.Lock()
	l, ok := s.pool.ToRelease(mac, ip, now)
	s.mu.Unlock()
	if !ok {
		return nil
	}
	if l.IP.IsValid() {
		if err := s.conf.Leases.SaveLease(ctx, l); err != nil {
			return fmt.Errorf("put it on record that %v has released %v: %w", mac, ip, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool.Release(mac, ip, now) && l.IP.IsValid() {
		s.pool.Saved(Grant{Lease: l})
	}
	return nil
}

// decline sets an address aside. If that cannot be put on record, it lasts as long as this process.
func (s *Server) decline(ctx context.Context, mac net.HardwareAddr, ip netip.Addr) (err error) {
	now := s.conf.Now()
	s.mu.Lock()
	d, ok := s.pool.ToDecline(mac, ip, now)
	s.mu.Unlock()
	if !ok {
		return nil
	}
	if d.IP.IsValid() {
		if err = s.conf.Leases.SaveDecline(ctx, d); err != nil {
			err = fmt.Errorf("put it on record that %v has declined %v: %w", mac, ip, err)
		}
	}
	s.mu.Lock()
	s.pool.Decline(mac, ip, now)
	s.mu.Unlock()
	s.complain("machine found its address in use by another", "mac", mac.String(), "ip", ip)
	return err
}
