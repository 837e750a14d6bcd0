package tftp

import (
	"container/list"
	"context"
	"errors"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
)

const (
	// defaultTransfers are under way at a time, each of some 20 KiB. Half of them are for addresses that DHCP has leased.
	defaultTransfers = 1024
	maxEach          = 64 // of them to one address: a rack may be behind a translator
	// silentTime is how long a client may say nothing before others come first. Anybody can begin a transfer in
	// another's name, but not acknowledge it.
	silentTime = 2 * time.Second
	// leastRate is the least average rate of a transfer in bytes a second, once it is slowTime old. A slower one ends
	// when others wait. A machine on a full network of 1 Gbit/s has ten times as much.
	leastRate = 16 << 10
	slowTime  = 5 * time.Second
)

// errSlow ends a transfer that gives way to others.
var errSlow = errors.New("others wait, and this transfer is slow")

// place is a transfer under way.
type place struct {
	request string // as it came in
	cancel  context.CancelCauseFunc
	began   time.Time
	known   bool         // DHCP has leased the address
	moved   atomic.Int64 // bytes that the client has acknowledged
	acked   atomic.Bool  // the client has acknowledged something: its address is not forged
}

// slow reports whether a transfer gives way to others. A client that repeats its last acknowledgement moves nothing.
func (p *place) slow() bool {
	age := time.Since(p.began)
	if !p.acked.Load() {
		return age >= silentTime
	}
	return age >= slowTime && float64(p.moved.Load()) < leastRate*age.Seconds()
}

// places holds the transfers and the waiting requests, under the server's lock.
type places struct {
	active    map[netip.AddrPort]*place
	each      map[netip.Addr]int // transfers by address
	strangers int                // transfers to addresses that DHCP has not leased
	waiting   map[netip.AddrPort]*list.Element
	queues    map[bool]*list.List // of *waiter by known, the first comes first
	freed     chan struct{}       // holds a token when a waiting request may get a place
}

func newPlaces() places {
	return places{active: map[netip.AddrPort]*place{}, each: map[netip.Addr]int{},
		waiting: map[netip.AddrPort]*list.Element{}, freed: make(chan struct{}, 1),
		queues: map[bool]*list.List{true: list.New(), false: list.New()}}
}

// begin takes a place for a request; nil means that there is none. A client repeats its request from the same port
// when an answer is late. The repetition must not start a second transfer, nor wait twice. A different request from
// that port means that the client is through with the first. It goes behind all that wait: otherwise requests in turn
// would hold a place for ever.
func (s *Server) begin(ctx context.Context, peer netip.AddrPort, text string, r request) (context.Context, *place) {
	known := s.known(peer.Addr())
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.active[peer]; old != nil {
		if old.request == text {
			return ctx, nil
		}
		s.remove(peer, nil)
	}
	if e := s.waiting[peer]; e != nil {
		e.Value = &waiter{peer, e.Value.(*waiter).known, text, r, time.Now()} //nolint:forcetypeassert // of this function
		return ctx, nil
	}
	queue := s.queues[known]
	if queue.Len() == 0 {
		if in, p := s.take(ctx, peer, text, known); p != nil {
			return in, p
		}
	}
	if queue.Len() >= maxWaiting {
		s.forget(queue.Front())
	}
	s.waiting[peer] = queue.PushBack(&waiter{peer, known, text, r, time.Now()})
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

// take takes a free place, or the place of a slow transfer. The lock is held.
func (s *Server) take(ctx context.Context, peer netip.AddrPort, text string, known bool) (context.Context, *place) {
	if !s.hasPlace(peer.Addr(), known) {
		out, found := s.slowest(peer.Addr(), known)
		if !found {
			return ctx, nil
		}
		s.remove(out, errSlow)
		if !s.hasPlace(peer.Addr(), known) {
			return ctx, nil
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	p := &place{request: text, cancel: cancel, began: time.Now(), known: known}
	s.active[peer] = p
	s.each[peer.Addr()]++
	if !known {
		s.strangers++
	}
	return ctx, p
}

// hasPlace reports whether there is a place. The lock is held.
func (s *Server) hasPlace(to netip.Addr, known bool) bool {
	return len(s.active) < s.conf.Transfers && s.each[to] < maxEach && (known || !s.strangersFull())
}

func (s *Server) strangersFull() bool { return s.strangers >= max(1, s.conf.Transfers/2) }

// slowest finds the oldest slow transfer that would make room. The lock is held.
func (s *Server) slowest(to netip.Addr, known bool) (out netip.AddrPort, found bool) {
	full := s.each[to] >= maxEach
	for peer, p := range s.active {
		switch {
		case !p.slow():
		case full && peer.Addr() != to || !known && p.known && s.strangersFull():
		case !found || p.began.Before(s.active[out].began):
			out, found = peer, true
		}
	}
	return out, found
}

// remove ends a transfer. The lock is held.
func (s *Server) remove(peer netip.AddrPort, why error) {
	p := s.active[peer]
	p.cancel(why)
	delete(s.active, peer)
	if s.each[peer.Addr()]--; s.each[peer.Addr()] == 0 {
		delete(s.each, peer.Addr())
	}
	if !p.known {
		s.strangers--
	}
}

func (s *Server) end(peer netip.AddrPort, p *place) {
	p.cancel(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active[peer] == p {
		s.remove(peer, nil)
	}
	select {
	case s.freed <- struct{}{}:
	default: // a token is there already
	}
}
