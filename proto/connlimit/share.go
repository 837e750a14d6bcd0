package connlimit

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"time"
)

// Share bounds the concurrent requests of one kind, so that they leave room for others on the same server. Its places
// are allocated as in Limit.
type Share struct{ pool *pool }

// NewShare makes a share of total requests, each from one address.
func NewShare(total, each int) *Share {
	p := newPool(total, each)
	p.wait = queueTime
	return &Share{p}
}

// queueTime is how long a request waits for its place.
const queueTime = 5 * time.Second

// Enter gives a request from an address its place, for which it may have to wait a little; nil when there is none.
// Serve the returned request, and then call leave. A request that loses its place loses its connection.
func (s *Share) Enter(r *http.Request, from netip.Addr) (in *http.Request, leave func()) {
	conn := of(r)
	t := s.pool.enter(from, func() {
		if conn != nil {
			conn.end()
		}
	})
	t.requests = 1 // no other goroutine knows it yet
	ctx, cancel := context.WithTimeout(r.Context(), queueTime)
	defer cancel()
	until := conn.read() // its connection does nothing meanwhile
	ok := s.pool.place(t, ctx.Done())
	until()
	if !ok {
		return nil, nil
	}
	with := *r
	if r.Body != nil && r.Body != http.NoBody {
		with.Body = &sharedBody{r.Body, t}
	}
	return &with, t.leave
}

// sharedBody says when it is being waited for.
type sharedBody struct {
	io.ReadCloser
	ticket *ticket
}

// Read waits for the peer.
func (b *sharedBody) Read(p []byte) (int, error) {
	defer b.ticket.read()()
	return b.ReadCloser.Read(p)
}
