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
	cut map[*counted]struct{} // those that can be cut off for others; nil: none can
	// closed when bytes are given back; nil while nobody waits for it
	freed chan struct{}
}

func newBodies(maxEach, maxAll int64) *bodies {
	return &bodies{maxEach: maxEach, maxAll: maxAll, by: map[netip.Addr]int64{}}
}

// newStrangers makes bodies of which those of the address, or IPv6 /64, that has
// most are cut off when others find no room.
func newStrangers(maxEach, maxAll int64) *bodies {
	b := newBodies(maxEach, maxAll)
	b.cut = map[*counted]struct{}{}
	return b
}

// bound counts the body of r from now on; end gives back what it took.
func (b *bodies) bound(r *http.Request) (end func()) {
	if r.Body == nil || r.Body == http.NoBody {
		return func() {}
	}
	c := &counted{ReadCloser: r.Body, bodies: b, from: clientaddr.Of(r), off: func() { connlimit.Cut(r) }}
	if b.cut != nil {
		c.from = connlimit.Network(c.from)
	}
	r.Body = c
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.drop(c)
	}
}

// drop gives back what a body holds. The lock is held.
func (b *bodies) drop(c *counted) {
	b.give(c.from, c.taken)
	c.taken = 0
	delete(b.cut, c)
}

// more takes n bytes for a body, or from others that are cut off for it.
func (b *bodies) more(c *counted, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !c.gone && !b.take(c.from, n) {
		most := b.most()
		if most == nil || most == c || b.by[most.from] <= b.by[c.from]+n {
			return false
		}
		b.drop(most)
		most.gone = true
		most.off()
	}
	if c.gone {
		return false
	}
	c.taken += n
	if b.cut != nil {
		b.cut[c] = struct{}{}
	}
	return true
}

// most is the largest body of the address that has most. The lock is held.
func (b *bodies) most() (most *counted) {
	for c := range b.cut {
		if most == nil || b.by[c.from] > b.by[most.from] || b.by[c.from] == b.by[most.from] && c.taken > most.taken {
			most = c
		}
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
	bodies *bodies
	from   netip.Addr
	off    func() // ends the connection
	read   int64

	// Under the lock of bodies.
	taken int64
	gone  bool // it was cut off
}

// Read reads on, or answers a 503 Fault when there is no room for more.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.read += int64(n)
	if over := c.read - freeBody; over > 0 && n > 0 && !c.bodies.more(c, min(over, int64(n))) {
		return 0, nodeapi.NewFault(http.StatusServiceUnavailable,
			"Too many large requests are under way; please retry in a few seconds")
	}
	return n, err
}
