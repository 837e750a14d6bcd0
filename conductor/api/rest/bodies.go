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

// What the bodies of all requests may hold in memory at a time. Without a bound
// a few clients that each begin a config drive of 64 MiB, and never end it, would
// leave nothing for anybody else.
const (
	freeBody   = 64 << 10  // of every request, so that heartbeats and verbs always get through
	bodiesEach = 96 << 20  // of one address: the largest config drive, and some
	bodiesAll  = 160 << 20 // so that one address leaves room for others

	// The same for what agents call, and so anybody. An inspection is at most 16 MiB.
	strangersEach = 32 << 20
	strangersAll  = 80 << 20
)

// bodies counts what the bodies under way hold: of requests, or of answers.
type bodies struct {
	maxEach, maxAll int64

	mu  sync.Mutex
	all int64
	by  map[netip.Addr]int64
	cut map[*holding]struct{} // those that can be cut off for others; nil: none can
	// closed when bytes are given back; nil while nobody waits for it
	freed chan struct{}
}

func newBodies(maxEach, maxAll int64) *bodies {
	return &bodies{maxEach: maxEach, maxAll: maxAll, by: map[netip.Addr]int64{}}
}

// newYielding makes bodies of which those of the address, or IPv6 /64, that has
// most are cut off when others find no room.
func newYielding(maxEach, maxAll int64) *bodies {
	b := newBodies(maxEach, maxAll)
	b.cut = map[*holding]struct{}{}
	return b
}

// NewStrangers makes a share of memory for bodies that are read before anybody is asked whose they are. bound counts
// the body of r from now on, and end gives back what it took.
func NewStrangers() (bound func(r *http.Request) (end func())) {
	return newYielding(strangersEach, strangersAll).bound
}

// holding is what one body, or one answer, holds.
type holding struct {
	in   *bodies
	from netip.Addr  // or the /64
	off  func()      // ends it; must not wait
	slow func() bool // when it may be cut off: always when nil, and then for those alone that hold less

	// Under the lock of bodies.
	taken int64
	gone  bool // it was cut off
}

// bound counts the body of r from now on; end gives back what it took.
func (b *bodies) bound(r *http.Request) (end func()) {
	if r.Body == nil || r.Body == http.NoBody {
		return func() {}
	}
	c := &counted{ReadCloser: r.Body,
		holding: holding{in: b, from: connlimit.Network(clientaddr.Of(r)), off: func() { connlimit.Cut(r) }}}
	r.Body = c
	return c.End
}

// End gives back what is held.
func (h *holding) End() {
	h.in.mu.Lock()
	defer h.in.mu.Unlock()
	h.in.drop(h)
}

// drop gives back what is held. The lock is held.
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

// victim is the one to be cut off for n more bytes of h: the largest of the address that has most, or of its own where
// that has its share; nil for none. The lock is held.
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

// take reserves n bytes, unless there is no room. A share that is empty has room for any number: nothing that is kept
// is too long to be read. The lock is held.
func (b *bodies) take(from netip.Addr, n int64) bool {
	if b.all > 0 && b.all+n > b.maxAll || b.by[from] > 0 && b.by[from]+n > b.maxEach {
		return false
	}
	b.all += n
	b.by[from] += n
	return true
}

// give gives bytes back. The lock is held.
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
