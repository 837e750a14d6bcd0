//go:build e2e

package scale

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrite-metal/ferrite/lab/agenttest"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// callers make requests as machines do: each from its own address, by a connection of its own.
type callers struct {
	members []*member
	http    *http.Client
	next    atomic.Int64
}

// sourceKey is the address that a request is sent from.
type sourceKey struct{}

func newCallers(members []*member) *callers {
	dial := func(ctx context.Context, network, to string) (net.Conn, error) {
		from, _ := ctx.Value(sourceKey{}).(netip.Addr)
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from.AsSlice()}}
		return d.DialContext(ctx, network, to)
	}
	return &callers{members: members, http: &http.Client{Timeout: 30 * time.Second,
		Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// from sends requests from an address.
type from struct {
	address netip.Addr
	base    http.RoundTripper
}

// RoundTrip sends one request.
func (f from) RoundTrip(r *http.Request) (*http.Response, error) {
	return f.base.RoundTrip(r.WithContext(context.WithValue(r.Context(), sourceKey{}, f.address)))
}

// call asks the conductors in turn, as by way of a load balancer.
func (c *callers) call(nth int, method, path string, body, answer any) (status int, err error) {
	client := &http.Client{Timeout: c.http.Timeout, Transport: from{address(agentNet, nth), c.http.Transport}}
	m := c.members[int(c.next.Add(1))%len(c.members)]
	return m.call(client, method, path, body, answer)
}

// beat is one heartbeat of the nth node.
func (c *callers) beat(nth int, id, token string) (status int, err error) {
	return c.call(nth, http.MethodPost, agentapi.HeartbeatPath+id, map[string]string{
		"callback_url": callbackOf(nth), "agent_token": token, "agent_version": agenttest.Version,
	}, nil)
}

// hearts sends the heartbeats of a room until stop. While there is no leader, it tries again as agents do.
type hearts struct {
	*callers
	count    int
	every    time.Duration
	taken    atomic.Int64
	again    atomic.Int64 // tries that no conductor took
	refused  atomic.Int64
	behind   atomic.Int64 // the most that one came late, in ns
	lastWord atomic.Value
}

// run sends heartbeats evenly over the interval, until ctx ends.
func (h *hearts) run(ctx context.Context) {
	due := make(chan time.Time, h.count) // late ones are sent all the same
	var all sync.WaitGroup
	var turn atomic.Int64
	for range 256 {
		all.Go(func() {
			for at := range due {
				nth := int(turn.Add(1)) % h.count
				h.one(ctx, nth)
				if late := int64(time.Since(at)); late > h.behind.Load() {
					h.behind.Store(late)
				}
			}
		})
	}
	began := time.Now()
	for i := 0; ctx.Err() == nil; i++ {
		at := began.Add(time.Duration(float64(h.every) * float64(i) / float64(h.count)))
		time.Sleep(time.Until(at))
		due <- at
	}
	close(due)
	all.Wait()
}

func (h *hearts) one(ctx context.Context, nth int) {
	for ctx.Err() == nil {
		status, err := h.beat(nth, uuidOf(nth), tokenOf(nth))
		switch {
		case err == nil:
			h.taken.Add(1)
			return
		case status != 0 && status != http.StatusServiceUnavailable && status != http.StatusConflict:
			h.refused.Add(1)
			h.lastWord.Store(err.Error())
			return
		}
		h.again.Add(1)
		time.Sleep(time.Duration(500+rand.IntN(1000)) * time.Millisecond)
	}
}
