package tftp

import (
	"container/list"
	"context"
	"net/netip"
	"time"
)

const (
	maxWaiting = 2048             // requests for a place
	patience   = 30 * time.Second // a client that waits and has not asked again for so long is gone
)

// waiter is a request for which there is no place yet.
type waiter struct {
	peer    netip.AddrPort
	request string
	parsed  request
	asked   time.Time // last
}

func (s *Server) forget(e *list.Element) {
	if w, ok := s.queue.Remove(e).(*waiter); ok {
		delete(s.waiting, w.peer)
	}
}

// admit starts those who wait as soon as there is a place, until ctx ends.
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

// next takes a place for the first of those who wait that may have one.
func (s *Server) next(ctx context.Context) (context.Context, *place, *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tried := map[netip.Addr]bool{} // some may be behind one address that has its share
	for e := s.queue.Front(); e != nil; {
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
		if in, p := s.take(ctx, w.peer, w.request, s.known(w.peer.Addr())); p != nil {
			s.forget(at)
			return in, p, w
		}
		tried[w.peer.Addr()] = true
	}
	return ctx, nil, nil
}
