package tftp

import (
	"container/list"
	"context"
	"net/netip"
	"time"
)

const (
	maxWaiting = 2048             // requests for a place, of machines and of strangers
	patience   = 30 * time.Second // a client that waits and has not asked again for so long is gone
)

// waiter is a request for which there is no place yet.
type waiter struct {
	peer    netip.AddrPort
	known   bool // to DHCP, when it came
	request string
	parsed  request
	asked   time.Time // last
}

func (s *Server) forget(e *list.Element) {
	if w, ok := e.Value.(*waiter); ok {
		s.queues[w.known].Remove(e)
		delete(s.waiting, w.peer)
	}
}

// admit starts waiting requests as soon as there is a place, until ctx ends.
func (s *Server) admit(ctx context.Context) {
	tick := time.NewTicker(silentTime / 4) // clients fall silent without an event
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.freed:
		case <-tick.C:
		}
		for {
			in, p, w := s.next(ctx)
			if p == nil {
				break
			}
			s.start(in, w.peer, w.parsed, p)
		}
	}
}

// next takes a place for the first waiting request that may have one. Strangers keep no machine waiting.
func (s *Server) next(ctx context.Context) (context.Context, *place, *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range []bool{true, false} {
		tried := map[netip.Addr]bool{} // some may be behind one address that has its share
		for e := s.queues[known].Front(); e != nil; {
			at := e
			e = e.Next()
			w, ok := at.Value.(*waiter)
			if !ok || time.Since(w.asked) > patience {
				s.forget(at)
				continue
			}
			if tried[w.peer.Addr()] {
				continue
			}
			if in, p := s.take(ctx, w.peer, w.request, known); p != nil {
				s.forget(at)
				return in, p, w
			}
			if s.each[w.peer.Addr()] < maxEach {
				break // nor is there a place for another of its kind
			}
			tried[w.peer.Addr()] = true
		}
	}
	return ctx, nil, nil
}
