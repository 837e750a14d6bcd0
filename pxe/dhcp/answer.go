package dhcp

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

// answer asks the Booter, settles the address and builds the reply; a nil reply means silence. The
// event says why.
func (s *Server) answer(ctx context.Context, req *dhcpv4.DHCPv4) (pxe.Client, *dhcpv4.DHCPv4, pxe.Event) {
	c := clientOf(req)
	e := eventOf(pxe.DHCP, c, req, s.conf.Server)
	if t := req.MessageType(); t == dhcpv4.MessageTypeRelease || t == dhcpv4.MessageTypeDecline {
		e.IP, e.Answer, e.Detail = wanted(req), "noted", ""
		if err := s.giveBack(ctx, req); err != nil {
			s.complain("dhcp message not on record", "mac", c.MAC.String(), "err", err)
			e.Answer, e.Reason, e.Detail = "", pxe.ReasonNotSaved, err.Error()
		}
		return c, nil, e
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	s.mu.Lock()
	c.IP, _ = s.pool.Current(c.MAC, s.conf.Now())
	s.mu.Unlock()
	e.IP = c.IP
	boot, err := s.conf.Booter.Boot(ctx, c)
	if err != nil {
		s.complain("boot policy gave no answer, so dhcp gives none", "mac", c.MAC.String(), "err", err)
		e.Reason, e.Detail = pxe.ReasonPolicy, err.Error()
		return c, nil, e
	}
	e.Known = boot.Action != pxe.Ignore && !boot.Stranger
	if boot.Action == pxe.Ignore {
		e.Reason = boot.Why
		return c, nil, e
	}
	a, err := s.lend(ctx, req, boot)
	e.Subnet = a.subnet
	if err != nil {
		s.complain("dhcp request not answered", "mac", c.MAC.String(), "err", err)
		e.Reason, e.Detail = reasonOf(err), err.Error()
		return c, nil, e
	}
	if c.IP = a.ip; a.ip.IsValid() {
		e.IP = a.ip
	}
	s.mu.Lock()
	s.pool.Note(c)
	s.mu.Unlock()
	answered(&e, a.reply, a.reason, bootless(c, boot, s.conf.URL))
	if a.reason == pxe.ReasonOtherServer && s.conf.OtherDHCP {
		e.Answer, e.Reason = leftToOther, ""
	}
	return c, a.reply, e
}

// lent is a reply, and what it rests on.
type lent struct {
	reply  *dhcpv4.DHCPv4 // nil: silence
	reason pxe.Reason     // of the silence or the refusal
	ip     netip.Addr
	grant  Grant
	subnet netip.Prefix
}

// lend settles the address and has an acknowledged lease on record before
// the machine hears of it (RFC 2131 section 4.3.1: the binding is committed first).
// Until then the books are not read anew: see Reload.
func (s *Server) lend(ctx context.Context, req *dhcpv4.DHCPv4, boot pxe.Boot) (lent, error) {
	s.books.RLock()
	defer s.books.RUnlock()
	a, err := s.decide(req, boot)
	if err != nil || !a.grant.Save {
		return a, err
	}
	if err := s.save(ctx, a.grant); err != nil {
		s.mu.Lock()
		s.pool.Unsaved(a.grant, errors.Is(err, context.DeadlineExceeded), s.conf.Now())
		s.mu.Unlock()
		a.reply = nil
		return a, because(pxe.ReasonNotSaved, err)
	}
	s.mu.Lock()
	s.pool.Saved(a.grant)
	s.mu.Unlock()
	return a, nil
}

// decide does all of a reply that needs the pool.
func (s *Server) decide(req *dhcpv4.DHCPv4, boot pxe.Boot) (a lent, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.conf.Now()
	at := link(req, s.conf.Server)
	sub, ok := s.pool.SubnetOf(addr(req.GatewayIPAddr), at, req.ClientHWAddr)
	if !ok {
		if len(s.pool.Subnets(at)) > 1 {
			return a, because(pxe.ReasonNoSubnet, fmt.Errorf("several subnets have %v, where the request comes from, "+
				"and none names it as its relay: add it to the relays of one", at))
		}
		return a, because(pxe.ReasonNoSubnet, fmt.Errorf("no subnet is configured for %v, where the request comes "+
			"from: add it to boot-subnets, or name the relay there", at))
	}
	a.subnet = sub.Prefix
	lease, err := settle(s.pool, req, sub, s.conf.Server, boot.Stranger, now)
	if err != nil {
		return a, err
	}
	a.reply, a.reason = Reply(req, boot, lease, Answer{Server: s.conf.Server, URL: s.conf.URL, Subnet: sub})
	if a.reply == nil {
		return a, nil
	}
	a.ip = addr(a.reply.YourIPAddr)
	if a.reply.MessageType() == dhcpv4.MessageTypeAck && a.ip.IsValid() {
		a.grant, err = s.pool.Grant(req.ClientHWAddr, sub, a.ip, now)
	}
	return a, err
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
