package connlimit

import (
	"net/netip"
	"sync/atomic"
	"time"
)

// ticket is one connection or request that has a place, or looks for one. All methods may be called on nil, the ticket
// of a connection without bounds.
type ticket struct {
	pool          *pool
	host, network netip.Addr
	end           func()
	refused       bool         // it has no place, and is answered 503
	client        string       // address and port that a proxy names for the whole connection; "" for its peer's
	nameless      bool         // a proxy's header says that it names no client
	writing       atomic.Int64 // when a piece of an answer began to go out; 0 between two

	// Under the lock of pool.
	gone     bool
	full     bool          // its host had its share for as long as it may wait
	entered  time.Duration // when it came
	known    bool          // has authenticated
	idle     bool          // has no request
	since    uint64        // the turn at which it began to be idle
	idleFrom time.Duration // when that was
	requests int           // being handled
	reading  int           // of these, requests with a body still to come
	received bool          // the peer has sent something since the last request began
	piped    bool          // it has sent something before that was answered
	handled  time.Duration // when the last request was
}

// leave gives the place back.
func (t *ticket) leave() {
	if t == nil {
		return
	}
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	t.pool.remove(t)
}

// lost reports whether the place, or the wait for one, is over.
func (t *ticket) lost() (gone bool) {
	t.change(func() { gone = t.gone })
	return gone
}

// begin notes that a request is being handled. last reports that it should be the last of its connection, because the
// peer did not wait for the answer to the previous one.
func (t *ticket) begin() (last bool) {
	t.change(func() {
		last = t.piped || !t.received
		t.requests, t.idle, t.received = t.requests+1, false, false
	})
	return last
}

// receive notes that the peer has sent something.
func (t *ticket) receive() {
	t.change(func() {
		t.received = true
		t.piped = t.piped || t.requests > 0 && t.reading == 0
	})
}

// count has the connection count for the client of a request until done; when that has its share, the error says so.
// A proxy sends requests of many clients over one connection, and is to keep it.
func (t *ticket) count(client netip.Addr) (done func(), err error) {
	if t == nil || client == t.host {
		return func() {}, nil
	}
	proxy := t.host
	if !t.pool.move(t, client) {
		return nil, &ShareError{t.pool.each}
	}
	return func() {
		t.change(func() { t.known = false })
		t.pool.move(t, proxy)
	}, nil
}

// done notes that a request has been handled; its answer may still be on its way.
func (t *ticket) done() { t.change(func() { t.requests, t.handled = t.requests-1, t.pool.clock() }) }

// read notes that the body of a request is being waited for, until.
func (t *ticket) read() (until func()) {
	t.change(func() { t.reading++ })
	return func() { t.change(func() { t.reading-- }) }
}

// idleNow notes that the last answer is out, and no request has begun.
func (t *ticket) idleNow() {
	t.change(func() {
		t.markIdle()
		t.pool.wake()
	})
}

func (t *ticket) change(f func()) {
	if t == nil {
		return
	}
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	f()
}

// markIdle is idleNow with the lock held.
func (t *ticket) markIdle() {
	t.pool.turn++
	t.idle, t.since, t.idleFrom = true, t.pool.turn, t.pool.clock()
}

// waits reports whether it is the peer's turn: to send a request or its rest, or to take an answer. impatient applies
// to clients that hold many.
func (t *ticket) waits(now time.Duration, impatient bool) bool {
	if at := time.Duration(t.writing.Load()); at != 0 {
		return now-at > stalled || impatient && now-at > stalledMany
	}
	if t.requests > 0 {
		return t.reading >= t.requests
	}
	return t.idle || now-t.handled > lingering
}
