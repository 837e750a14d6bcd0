package tftp

import (
	"context"
	"net/netip"
	"sync/atomic"
)

// place is a transfer under way.
type place struct {
	request string // as it came in
	cancel  context.CancelFunc
	turn    uint64
	known   bool        // DHCP has lent the address
	acked   atomic.Bool // the client has acknowledged something: its address is not forged
}

// begin takes a place for peer; nil means there is none, and busy that none is free. A client repeats its
// request from the same port when an answer is late, which must not start a second transfer;
// a different request from that port means that the client is through with the first.
func (s *Server) begin(ctx context.Context, peer netip.AddrPort,
	request string) (_ context.Context, _ *place, busy bool) {
	known := false
	if s.conf.Client != nil {
		_, known = s.conf.Client(peer.Addr())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.active[peer]
	switch {
	case old != nil && old.request == request:
		return ctx, nil, false
	case old != nil:
		old.cancel()
	case !s.room(peer, known):
		return ctx, nil, true
	}
	ctx, cancel := context.WithCancel(ctx)
	s.begun++
	s.active[peer] = &place{request: request, cancel: cancel, turn: s.begun, known: known}
	return ctx, s.active[peer], false
}

// room makes room for a transfer if there is none, and reports whether there is.
// The lock is held.
func (s *Server) room(to netip.AddrPort, known bool) bool {
	all := map[netip.Addr]int{}
	for peer := range s.active {
		all[peer.Addr()]++
	}
	mine := all[to.Addr()]
	if mine < maxEach && len(s.active) < s.conf.Transfers {
		return true
	}
	var out netip.AddrPort
	for peer, p := range s.active {
		switch {
		case mine >= maxEach && peer.Addr() != to.Addr():
		case p.acked.Load() && (mine >= maxEach || p.known == known && all[peer.Addr()] <= mine+1 || p.known && !known):
		case !out.IsValid() || s.before(peer, out, all):
			out = peer
		}
	}
	if !out.IsValid() {
		return false
	}
	s.active[out].cancel()
	delete(s.active, out)
	return true
}

// before reports whether a is to make room rather than b: one that was never heard
// of, which a stranger can begin in anybody's name; one that DHCP does not know; of
// the address that has most; the oldest.
func (s *Server) before(a, b netip.AddrPort, all map[netip.Addr]int) bool {
	x, y := s.active[a], s.active[b]
	switch acked := x.acked.Load(); {
	case acked != y.acked.Load():
		return !acked
	case x.known != y.known:
		return !x.known
	case all[a.Addr()] != all[b.Addr()]:
		return all[a.Addr()] > all[b.Addr()]
	}
	return x.turn < y.turn
}

func (s *Server) end(peer netip.AddrPort, p *place) {
	p.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active[peer] == p {
		delete(s.active, peer)
	}
}
