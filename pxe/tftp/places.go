package tftp

import (
	"container/list"
	"context"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
)

const (
	// defaultTransfers are under way at a time, each of some 20 KiB. Half of them are for addresses that DHCP has lent.
	defaultTransfers = 1024
	maxEach          = 64 // of them to one address: a rack may be behind a translator
	// silentTime is how long a client may say nothing before others come first. Anybody can begin a transfer in
	// another's name, but not acknowledge it.
	silentTime = 2 * time.Second
)

// place is a transfer under way.
type place struct {
	request string // as it came in
	cancel  context.CancelFunc
	began   time.Time
	known   bool        // DHCP has lent the address
	acked   atomic.Bool // the client has acknowledged something: its address is not forged
}

// places are the transfers and who waits for one, under the server's lock.
type places struct {
	active    map[netip.AddrPort]*place
	each      map[netip.Addr]int // transfers by address
	strangers int                // transfers to addresses that DHCP has not lent
	waiting   map[netip.AddrPort]*list.Element
	queue     *list.List    // of *waiter, the first comes first
	freed     chan struct{} // holds a token when there may be a place for who waits
}

func newPlaces() places {
	return places{active: map[netip.AddrPort]*place{}, each: map[netip.Addr]int{},
		waiting: map[netip.AddrPort]*list.Element{}, queue: list.New(), freed: make(chan struct{}, 1)}
}

// begin takes a place for a request; nil means that there is none. A client repeats its request from the same port when
// an answer is late, which must not start a second transfer, nor wait twice; a different request from that port means
// that the client is through with the first.
func (s *Server) begin(ctx context.Context, peer netip.AddrPort, text string, r request) (context.Context, *place) {
	known := s.known(peer.Addr())
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.active[peer]; old != nil {
		if old.request == text {
			return ctx, nil
		}
		s.remove(peer)
	}
	if e := s.waiting[peer]; e != nil {
		e.Value = &waiter{peer, text, r, time.Now()}
		return ctx, nil
	}
	if in, p := s.take(ctx, peer, text, known); p != nil {
		return in, p
	}
	if s.queue.Len() >= maxWaiting {
		s.forget(s.queue.Front())
	}
	s.waiting[peer] = s.queue.PushBack(&waiter{peer, text, r, time.Now()})
	s.record(peer, pxe.Event{File: r.name, Reason: pxe.ReasonBusy})
	return ctx, nil
}

func (s *Server) known(a netip.Addr) bool {
	if s.conf.Client == nil {
		return false
	}
	_, known := s.conf.Client(a)
	return known
}

// take takes a place if there is one, or one that makes room. The lock is held.
func (s *Server) take(ctx context.Context, peer netip.AddrPort, text string, known bool) (context.Context, *place) {
	if !s.room(peer.Addr(), known) {
		out, silent := s.silent(peer.Addr(), known)
		if !silent {
			return ctx, nil
		}
		s.remove(out)
		if !s.room(peer.Addr(), known) {
			return ctx, nil
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &place{request: text, cancel: cancel, began: time.Now(), known: known}
	s.active[peer] = p
	s.each[peer.Addr()]++
	if !known {
		s.strangers++
	}
	return ctx, p
}

// room reports whether there is a place. The lock is held.
func (s *Server) room(to netip.Addr, known bool) bool {
	return len(s.active) < s.conf.Transfers && s.each[to] < maxEach && (known || !s.strangersFull())
}

func (s *Server) strangersFull() bool { return s.strangers >= max(1, s.conf.Transfers/2) }

// silent finds the oldest transfer whose client has said nothing, of those whose end makes room. The lock is held.
func (s *Server) silent(to netip.Addr, known bool) (out netip.AddrPort, found bool) {
	full := s.each[to] >= maxEach
	for peer, p := range s.active {
		switch {
		case p.acked.Load() || time.Since(p.began) < silentTime:
		case full && peer.Addr() != to || !known && p.known && s.strangersFull():
		case !found || p.began.Before(s.active[out].began):
			out, found = peer, true
		}
	}
	return out, found
}

// remove ends a transfer. The lock is held.
func (s *Server) remove(peer netip.AddrPort) {
	p := s.active[peer]
	p.cancel()
	delete(s.active, peer)
	if s.each[peer.Addr()]--; s.each[peer.Addr()] == 0 {
		delete(s.each, peer.Addr())
	}
	if !p.known {
		s.strangers--
	}
}

func (s *Server) end(peer netip.AddrPort, p *place) {
	p.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active[peer] == p {
		s.remove(peer)
	}
	if s.queue.Len() == 0 {
		return
	}
	select {
	case s.freed <- struct{}{}:
	default: // told already
	}
}
