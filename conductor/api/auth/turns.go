package auth

import (
	"context"
	"net/netip"
	"sync"

	"github.com/ferrite-metal/ferrite/proto/connlimit"
)

// turns bounds the passwords checked at a time. Each address, or IPv6 /64, has one in the queue, so that a sender of
// many passwords delays only itself.
type turns struct {
	places chan struct{}

	mu    sync.Mutex
	lines map[netip.Addr]*line
}

// line queues the passwords of one network.
type line struct {
	first chan struct{} // holds a token while one of the line is in the queue, or checked
	size  int           // those in the queue or checked, and those waiting for first
}

func newTurns(n int) *turns {
	return &turns{places: make(chan struct{}, n), lines: map[netip.Addr]*line{}}
}

// enter waits for a caller's turn. It ends with leave, unless it fails.
func (t *turns) enter(ctx context.Context, from netip.Addr) (leave func(), err error) {
	from = connlimit.Network(from)
	l := t.join(from)
	select {
	case l.first <- struct{}{}:
	case <-ctx.Done():
		t.quit(from, l)
		return nil, ctx.Err()
	}
	done := func() {
		<-l.first
		t.quit(from, l)
	}
	select {
	case t.places <- struct{}{}:
	case <-ctx.Done():
		done()
		return nil, ctx.Err()
	}
	return func() {
		<-t.places
		done()
	}, nil
}

func (t *turns) join(from netip.Addr) *line {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[from]
	if l == nil {
		l = &line{first: make(chan struct{}, 1)}
		t.lines[from] = l
	}
	l.size++
	return l
}

func (t *turns) quit(from netip.Addr, l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.size--; l.size == 0 {
		delete(t.lines, from)
	}
}
