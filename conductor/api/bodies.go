package api

import (
	"io"
	"net/http"
	"net/netip"
	"sync"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// What the bodies of all requests may hold in memory at a time. Without a bound
// a few clients that each begin a config drive of 64 MiB, and never end it, would
// leave nothing for anybody else.
const (
	freeBody   = 64 << 10  // of every request, so that heartbeats and verbs always get through
	bodiesEach = 96 << 20  // of one address: the largest config drive, and some
	bodiesAll  = 160 << 20 // so that one address leaves room for others
)

// What long answers may hold in memory until their readers have taken them, who
// may be slow: a page of a thousand nodes with all their fields is 3 MB and more.
const (
	answersEach = 64 << 20
	answersAll  = 160 << 20
)

// bodies counts what the bodies under way hold: of requests, or of answers.
type bodies struct {
	maxEach, maxAll int64

	mu  sync.Mutex
	all int64
	by  map[netip.Addr]int64
}

func newBodies(maxEach, maxAll int64) *bodies {
	return &bodies{maxEach: maxEach, maxAll: maxAll, by: map[netip.Addr]int64{}}
}

// bound counts the body of r from now on; end gives back what it took.
func (b *bodies) bound(r *http.Request) (end func()) {
	if r.Body == nil || r.Body == http.NoBody {
		return func() {}
	}
	c := &counted{ReadCloser: r.Body, bodies: b, from: nodeapi.From(r)}
	r.Body = c
	return func() { b.give(c.from, c.taken) }
}

// take reserves n bytes, unless there is no room.
func (b *bodies) take(from netip.Addr, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all+n > b.maxAll || b.by[from]+n > b.maxEach {
		return false
	}
	b.all += n
	b.by[from] += n
	return true
}

// hold reserves what an answer of n bytes takes until end is called, or answers a
// 503 Fault. One that is longer than all answers of an address may be is given as
// long as it is the only one: nothing that is kept is too long to be read.
func (b *bodies) hold(r *http.Request, n int64) (end func(), err error) {
	from := nodeapi.From(r)
	if n = min(n-freeBody, b.maxEach); n <= 0 {
		return func() {}, nil
	}
	if !b.take(from, n) {
		return nil, nodeapi.NewFault(http.StatusServiceUnavailable,
			"Too many long answers are under way that their readers have not taken; please retry in a few seconds, or ask for fewer with limit")
	}
	return func() { b.give(from, n) }, nil
}

func (b *bodies) give(from netip.Addr, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all -= n
	if b.by[from] -= n; b.by[from] == 0 {
		delete(b.by, from)
	}
}

// counted is a body that is counted as it is read.
type counted struct {
	io.ReadCloser
	bodies *bodies
	from   netip.Addr
	read   int64
	taken  int64
}

// Read reads on, or answers a 503 Fault when there is no room for more.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.read += int64(n)
	if more := c.read - freeBody - c.taken; more > 0 {
		if !c.bodies.take(c.from, more) {
			return 0, nodeapi.NewFault(http.StatusServiceUnavailable,
				"Too many large requests are under way; please retry in a few seconds")
		}
		c.taken += more
	}
	return n, err
}
