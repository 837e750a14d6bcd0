package rest

import (
	"io"
	"net/http"
	"net/netip"
	"sync"

	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Bounds of memory for the bodies of all requests at a time. Without them a few clients could each begin a config drive
// of 64 MiB, never end it, and leave no memory for others.
const (
	freeBody   = 64 << 10  // of every request, so that heartbeats and verbs always get through
	bodiesEach = 96 << 20  // of one address: the largest config drive, and some
	bodiesAll  = 160 << 20 // so that one address leaves room for others

	// The same for agents' paths, which anybody can call. An inspection is at most 16 MiB.
	strangersEach = 32 << 20
	strangersAll  = 80 << 20
)

// bodies counts the bytes of the bodies under way: of requests, or of answers.
type bodies struct {
	maxEach, maxAll int64

	mu  sync.Mutex
	all int64
	by  map[netip.Addr]int64
	cut map[*holding]struct{} // those that can be cut off for others; nil: none can
	// closed when bytes are given back; nil without a waiter
	freed chan struct{}
}

func newBodies(maxEach, maxAll int64) *bodies {
	return &bodies{maxEach: maxEach, maxAll: maxAll, by: map[netip.Addr]int64{}}
}

// newYielding makes bodies that give way. When others find no room, it cuts off bodies of the address, or IPv6 /64,
// that holds most.
func newYielding(maxEach, maxAll int64) *bodies {
	b := newBodies(maxEach, maxAll)
	b.cut = map[*holding]struct{}{}
	return b
}

// NewStrangers makes a share of memory for bodies that are read before authentication. bound counts the body of r from
// now on, and end gives its bytes back.
func NewStrangers() (bound func(r *http.Request) (end func())) {
	return newYielding(strangersEach, strangersAll).bound
}

// holding is the memory of one body or one answer.
type holding struct {
	in   *bodies
	from netip.Addr  // or the /64
	off  func()      // ends it; must not wait
	slow func() bool // when it may be cut off: always when nil, and then for those alone that hold less

	// Under the lock of bodies.
	taken int64
	gone  bool // it was cut off
}

// bound counts the body of r from now on; end gives its bytes back.
func (b *bodies) bound(r *http.Request) (end func()) {
	if r.Body == nil || r.Body == http.NoBody {
		return func() {}
	}
	c := &counted{ReadCloser: r.Body,
		holding: holding{in: b, from: connlimit.Network(clientaddr.Of(r)), off: func() { connlimit.Cut(r) }}}
	r.Body = c
	return c.End
}

// End gives back all bytes held.
func (h *holding) End() {
	h.in.mu.Lock()
	defer h.in.mu.Unlock()
	h.in.drop(h)
}

// drop gives back the bytes of a holding. The caller holds the lock.
func (b *bodies) drop(h *holding) {
	b.give(h.from, h.taken)
	h.taken = 0
	delete(b.cut, h)
}

// more takes n bytes, or has others cut off for them. The lock is held.
func (b *bodies) more(h *holding, n int64) bool {
	for !h.gone && !b.take(h.from, n) {
		most := b.victim(h, n)
		if most == nil {
			return false
		}
		b.drop(most)
		most.gone = true
		most.off()
	}
	if h.gone {
		return false
	}
	h.taken += n
	if b.cut != nil {
		b.cut[h] = struct{}{}
	}
	return true
}

// victim is the holding to cut off for n more bytes of h: the largest of the address that holds most, or of h's own
// address if that has its share; nil for none. The caller holds the lock.
func (b *bodies) victim(h *holding, n int64) (most *holding) {
	own := b.by[h.from] > 0 && b.by[h.from]+n > b.maxEach
	for o := range b.cut {
		switch {
		case own && o.from != h.from || o.slow != nil && !o.slow():
		case most == nil || b.by[o.from] > b.by[most.from] || b.by[o.from] == b.by[most.from] && o.taken > most.taken:
			most = o
		}
	}
	if most == nil || b.by[most.from] < b.by[h.from] || most.slow == nil && b.by[most.from] <= b.by[h.from]+n {
		return nil
	}
	return most
}

// take reserves n bytes, unless there is no room. An empty share has room for any number, so that no stored record is
// too long to be read. The caller holds the lock.
func (b *bodies) take(from netip.Addr, n int64) bool {
	if b.all > 0 && b.all+n > b.maxAll || b.by[from] > 0 && b.by[from]+n > b.maxEach {
		return false
	}
	b.all += n
	b.by[from] += n
	return true
}

// give gives bytes back. The caller holds the lock.
func (b *bodies) give(from netip.Addr, n int64) {
	b.all -= n
	if b.by[from] -= n; b.by[from] == 0 {
		delete(b.by, from)
	}
	if n > 0 && b.freed != nil {
		close(b.freed)
		b.freed = nil
	}
}

// counted is a body that is counted as it is read.
type counted struct {
	io.ReadCloser
	holding
	read int64
}

// Read reads on, or answers a 503 Fault when there is no room for more.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.read += int64(n)
	if over := c.read - freeBody; over > 0 && n > 0 && !c.more(min(over, int64(n))) {
		return 0, nodeapi.NewFault(http.StatusServiceUnavailable,
			"Too many large requests are under way; please retry in a few seconds")
	}
	return n, err
}

func (h *holding) more(n int64) bool {
	h.in.mu.Lock()
	defer h.in.mu.Unlock()
	return h.in.more(h, n)
}
