package dhcp

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

// answer asks the Booter, settles the address and builds the reply; nil means silence.
func (s *Server) answer(ctx context.Context, req *dhcpv4.DHCPv4) (pxe.Client, *dhcpv4.DHCPv4) {
	c := clientOf(req)
	if t := req.MessageType(); t == dhcpv4.MessageTypeRelease || t == dhcpv4.MessageTypeDecline {
		s.giveBack(req)
		return c, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	s.mu.Lock()
	c.IP, _ = s.pool.Current(c.MAC, s.conf.Now())
	s.mu.Unlock()
	boot, err := s.conf.Booter.Boot(ctx, c)
	if err != nil {
		s.complain("boot policy gave no answer, so dhcp gives none", "mac", c.MAC.String(), "err", err)
		return c, nil
	}
	if boot.Action == pxe.Ignore {
		return c, nil
	}
	reply, ip, err := s.lend(ctx, req, boot)
	if err != nil {
		s.complain("dhcp request not answered", "mac", c.MAC.String(), "err", err)
		return c, nil
	}
	c.IP = ip
	s.mu.Lock()
	s.pool.Note(c)
	s.mu.Unlock()
	s.warnNoLoader(c, boot)
	return c, reply
}

// lend settles the address and has an acknowledged lease on record before
// the machine hears of it (RFC 2131 section 4.3.1: the binding is committed first).
// Until then the books are not read anew: see Reload.
func (s *Server) lend(ctx context.Context, req *dhcpv4.DHCPv4, boot pxe.Boot) (*dhcpv4.DHCPv4, netip.Addr, error) {
	s.books.RLock()
	defer s.books.RUnlock()
	reply, ip, g, err := s.decide(req, boot)
	if err != nil || !g.Save {
		return reply, ip, err
	}
	if err := s.save(ctx, g); err != nil {
		s.mu.Lock()
		s.pool.Unsaved(g, s.conf.Now())
		s.mu.Unlock()
		return nil, ip, err
	}
	s.mu.Lock()
	s.pool.Saved(g)
	s.mu.Unlock()
	return reply, ip, nil
}

// decide does all of a reply that needs the pool.
func (s *Server) decide(req *dhcpv4.DHCPv4, boot pxe.Boot) (*dhcpv4.DHCPv4, netip.Addr, Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.conf.Now()
	at := link(req, s.conf.Server)
	sub, ok := s.pool.SubnetOf(addr(req.GatewayIPAddr), at)
	if !ok {
		return nil, netip.Addr{}, Grant{}, fmt.Errorf("no subnet is configured for %v, where the request comes from: add it "+
			"to boot-subnets, or name the relay there", at)
	}
	lease, err := settle(s.pool, req, sub, s.conf.Server, boot.Stranger, now)
	if err != nil {
		return nil, netip.Addr{}, Grant{}, err
	}
	reply := Reply(req, boot, lease, Answer{Server: s.conf.Server, URL: s.conf.URL, Subnet: sub})
	if reply == nil {
		return nil, netip.Addr{}, Grant{}, nil
	}
	ip := addr(reply.YourIPAddr)
	var g Grant
	if reply.MessageType() == dhcpv4.MessageTypeAck && ip.IsValid() {
		g, err = s.pool.Grant(req.ClientHWAddr, sub, ip, now)
	}
	return reply, ip, g, err
}

func (s *Server) save(ctx context.Context, g Grant) error {
	if g.Evict != nil {
		if err := s.conf.Leases.EndLease(ctx, *g.Evict); err != nil {
			return fmt.Errorf("end the lease of %v, which ran out: %w", g.Evict.MAC, err)
		}
	}
	if err := s.conf.Leases.SaveLease(ctx, g.Lease); err != nil {
		return fmt.Errorf("put the lease of %v for %v on record: %w", g.Lease.IP, g.Lease.MAC, err)
	}
	return nil
}

// giveBack handles RELEASE and DECLINE, which get no answer. The pool
// believes only the machine that has the address.
func (s *Server) giveBack(req *dhcpv4.DHCPv4) {
	if id := addr(req.ServerIdentifier()); id.IsValid() && id != s.conf.Server {
		return
	}
	now := s.conf.Now()
	if req.MessageType() == dhcpv4.MessageTypeRelease {
		s.mu.Lock()
		s.pool.Release(req.ClientHWAddr, addr(req.ClientIPAddr), now)
		s.mu.Unlock()
		return
	}
	ip := wanted(req)
	s.mu.Lock()
	declined := s.pool.Decline(req.ClientHWAddr, ip, now)
	s.mu.Unlock()
	if declined {
		s.complain("machine found its address in use by another", "mac", req.ClientHWAddr.String(), "ip", ip)
	}
}

// warnNoLoader says why a machine that should boot will not.
func (s *Server) warnNoLoader(c pxe.Client, boot pxe.Boot) {
	if !boot.Action.Boots() || c.Firmware == pxe.System {
		return
	}
	if _, ok := bootFile(c, boot, s.conf.URL); !ok {
		s.complain("no boot loader for this machine's architecture", "mac", c.MAC.String(),
			"arch", c.Arch, "firmware", c.Firmware, "detail", c.Detail)
	}
}
