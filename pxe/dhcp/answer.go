package dhcp

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

// exchange is a request and its answer.
type exchange struct {
	outgoing
	req      *dhcpv4.DHCPv4
	client   pxe.Client
	silent   bool // it gets no answer
	boot     pxe.Boot
	decision decision
	event    pxe.Event
}

// decision is a reply, and the binding behind it.
type decision struct {
	reply  *dhcpv4.DHCPv4 // nil: silence
	reason pxe.Reason     // of the silence or the refusal
	ip     netip.Addr
	grant  Grant
	subnet netip.Prefix
	err    error
}

// answer asks the Booter, binds the addresses and builds the replies. The events give the reason for silence.
func (s *Server) answer(ctx context.Context, all []*exchange) {
	now := s.conf.Now()
	s.mu.Lock()
	for _, x := range all {
		x.client = clientOf(x.req)
		x.event = eventOf(pxe.DHCP, x.client, x.req, s.conf.Server)
		x.client.IP, _ = s.pool.Current(x.client.MAC, now)
	}
	s.mu.Unlock()
	s.askAll(ctx, all)
	all = slices.DeleteFunc(slices.Clone(all), func(x *exchange) bool { return x.silent })
	s.commit(ctx, all)
	for _, x := range all {
		x.event.Subnet = x.decision.subnet
		if err := x.decision.err; err != nil {
			s.complain("dhcp request not answered", "mac", x.client.MAC.String(), "err", err)
			x.event.Reason, x.event.Detail = reasonOf(err), err.Error()
			x.decision.reply = nil
			continue
		}
		if x.client.IP = x.decision.ip; x.decision.ip.IsValid() {
			x.event.IP = x.decision.ip
		}
		answered(&x.event, x.decision.reply, x.decision.reason, bootless(x.client, x.boot, s.conf.URL))
		if x.decision.reason == pxe.ReasonOtherServer && s.conf.OtherDHCP {
			x.event.Answer, x.event.Reason = leftToOther, ""
		}
	}
}

// askAll asks for one after the other while the answers are quick, which costs least. After a slow one it asks for the
// rest at once, with time of their own: no machine waits for long because of another.
func (s *Server) askAll(ctx context.Context, all []*exchange) {
	quick, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	began := time.Now()
	for i, x := range all {
		if x.silent = !s.ask(quick, x); time.Since(began) < slowAnswer {
			continue
		}
		var rest sync.WaitGroup
		for _, x := range all[i+1:] {
			rest.Go(func() {
				own, cancel := context.WithTimeout(ctx, askTimeout)
				defer cancel()
				x.silent = !s.ask(own, x)
			})
		}
		rest.Wait()
		return
	}
}

// ask handles RELEASE and DECLINE, and asks the Booter about other requests. It returns false for silence.
func (s *Server) ask(ctx context.Context, x *exchange) bool {
	e := &x.event
	if t := messageType(x.req); t == dhcpv4.MessageTypeRelease || t == dhcpv4.MessageTypeDecline {
		e.IP, e.Answer, e.Detail = requestedIP(x.req), "noted", ""
		if err := s.giveBack(ctx, x.req); err != nil {
			s.complain("dhcp message not on record", "mac", x.client.MAC.String(), "err", err)
			e.Answer, e.Reason, e.Detail = "", pxe.ReasonNotSaved, err.Error()
		}
		return false
	}
	e.IP = x.client.IP
	boot, err := s.conf.Booter.Boot(ctx, x.client)
	if err != nil {
		s.complain("boot policy gave no answer, so dhcp gives none", "mac", x.client.MAC.String(), "err", err)
		e.Reason, e.Detail = pxe.ReasonPolicy, err.Error()
		return false
	}
	x.boot = boot
	e.Known = boot.Action != pxe.Ignore && !boot.Stranger
	if boot.Action == pxe.Ignore {
		e.Reason = boot.Why
	}
	return boot.Action != pxe.Ignore
}

// commit decides the addresses, and writes acknowledged leases before their machines get the ACK (RFC 2131 section
// 4.3.1: the binding is committed first). Reload waits for it: it must not read the leases between the two.
func (s *Server) commit(ctx context.Context, all []*exchange) {
	s.recordMu.RLock()
	defer s.recordMu.RUnlock()
	s.mu.Lock()
	for _, x := range all {
		x.decision = s.decide(x.req, x.boot)
	}
	s.mu.Unlock()
	s.save(ctx, all)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range all {
		switch g := x.decision.grant; {
		case x.decision.err != nil && g.Save:
			s.pool.Unsaved(g, errors.Is(x.decision.err, context.DeadlineExceeded), s.conf.Now())
			x.decision.err = because(pxe.ReasonNotSaved, x.decision.err)
			continue
		case x.decision.err != nil:
			continue
		case g.Save:
			s.pool.Saved(g)
		}
		x.client.IP = x.decision.ip
		s.pool.Note(x.client)
	}
}

// decide does the part of an answer that needs the pool. The lock is held.
func (s *Server) decide(req *dhcpv4.DHCPv4, boot pxe.Boot) (a decision) {
	now := s.conf.Now()
	at := linkAddr(req, s.conf.Server)
	sub, ok := s.pool.SubnetOf(addr(req.GatewayIPAddr), at, req.ClientHWAddr)
	if !ok {
		a.err = because(pxe.ReasonNoSubnet, fmt.Errorf("no subnet is configured for %v, where the request comes "+
			"from: add it to boot-subnets, or name the relay there", at))
		if len(s.pool.Subnets(at)) > 1 {
			a.err = because(pxe.ReasonNoSubnet, fmt.Errorf("several subnets have %v, where the request comes from, "+
				"and none names it as its relay: add it to the relays of one", at))
		}
		return a
	}
	a.subnet = sub.Prefix
	lease, err := bindingFor(s.pool, req, sub, s.conf.Server, boot, now)
	if err != nil {
		a.err = err
		return a
	}
	a.reply, a.reason = Reply(req, boot, lease, Answer{Server: s.conf.Server, URL: s.conf.URL, Subnet: sub})
	if a.reply == nil {
		return a
	}
	a.ip = addr(a.reply.YourIPAddr)
	if messageType(a.reply) == dhcpv4.MessageTypeAck && a.ip.IsValid() {
		a.grant, a.err = s.pool.Grant(req.ClientHWAddr, sub, a.ip, now)
	}
	return a
}

// save commits the granted leases in one write. If that write fails, each lease is written alone, so that one bad
// lease does not hold up the others.
func (s *Server) save(ctx context.Context, all []*exchange) {
	all = slices.DeleteFunc(slices.Clone(all), func(x *exchange) bool { return !x.decision.grant.Save })
	if len(all) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var ending sync.WaitGroup
	for _, x := range all {
		if was := x.decision.grant.Evict; was != nil {
			ending.Go(func() {
				if err := s.conf.Leases.EndLease(ctx, *was); err != nil {
					x.decision.err = fmt.Errorf("end the lease of %v, which ran out: %w", was.MAC, err)
				}
			})
		}
	}
	ending.Wait()
	all = slices.DeleteFunc(all, func(x *exchange) bool { return x.decision.err != nil })
	leases := make([]pxe.Lease, len(all))
	for i, x := range all {
		leases[i] = x.decision.grant.Lease
	}
	err := s.conf.Leases.SaveLease(ctx, leases...)
	for i, x := range all {
		if err != nil && len(all) > 1 && ctx.Err() == nil {
			x.decision.err = s.conf.Leases.SaveLease(ctx, leases[i])
		} else {
			x.decision.err = err
		}
		if x.decision.err != nil {
			x.decision.err = fmt.Errorf("put the lease of %v for %v on record: %w", leases[i].IP, leases[i].MAC,
				x.decision.err)
		}
	}
}
