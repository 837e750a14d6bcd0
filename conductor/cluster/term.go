package cluster

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Term is the time for which this conductor leads a group.
type Term struct {
	Lease *Lease

	mu       sync.Mutex
	handler  http.Handler // nil while it answers nothing
	ready    func() error
	requests sync.WaitGroup
	cut      context.Context //nolint:containedctx // ends the requests under way
	cutOff   context.CancelFunc
}

func newTerm(l *Lease) *Term {
	t := &Term{Lease: l}
	t.cut, t.cutOff = context.WithCancel(l.ctx)
	return t
}

// Serve has requests for the group answered by h, until Finish or the end of the leadership. ready is why they cannot
// be at the moment; it may be nil.
func (t *Term) Serve(h http.Handler, ready func() error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.handler, t.ready = h, ready
}

// Finish takes no more requests, and waits for those under way: some time in order, then they are cut off.
func (t *Term) Finish(patience time.Duration) {
	t.mu.Lock()
	t.handler = nil
	t.mu.Unlock()
	done := make(chan struct{})
	go func() {
		t.requests.Wait()
		close(done)
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-t.Lease.ctx.Done():
	}
	t.cutOff()
	<-done
}

// answer answers a request, or reports false when this conductor does not (yet, or any longer) answer for the group.
func (t *Term) answer(w http.ResponseWriter, r *http.Request) bool {
	t.mu.Lock()
	h := t.handler
	if h == nil || t.Lease.Check() != nil {
		t.mu.Unlock()
		return false
	}
	t.requests.Add(1)
	t.mu.Unlock()
	defer t.requests.Done()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(t.cut, cancel)()
	h.ServeHTTP(w, r.WithContext(ctx))
	return true
}

func (t *Term) serving() (yes bool, notReady error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.handler == nil || t.Lease.Check() != nil {
		return false, nil
	}
	if t.ready != nil {
		notReady = t.ready()
	}
	return true, notReady
}

// Times of the end of a term.
const (
	orderTime = 700 * time.Millisecond // for work that ends in order
	takeTime  = 5 * time.Second        // for a takeover, which waits for writes under way
	retryTime = 2 * time.Second        // after a term that could not begin
)

// lead leads a group for a term: until ctx ends, or the leadership does. It gives the group back.
func (c *Cluster) lead(ctx context.Context, t *Term) {
	l := t.Lease
	log := c.Log.With("group", l.Group, "epoch", l.Epoch)
	log.Info("this conductor leads the group")
	go l.watch()
	go l.renew(c.Rows)
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(l.ctx, func() { stop(l.Check()) })()
	over := make(chan error, 1)
	go func() { over <- c.Lead(work, t) }()
	var err error
	select {
	case err = <-over:
		over <- nil
	case <-work.Done():
		timer := time.NewTimer(orderTime)
		select {
		case err = <-over:
			over <- nil
		case <-timer.C:
		}
		timer.Stop()
	}
	inOrder := l.Check() == nil
	l.End(errors.New("it was given back"))
	// A lost one is given back, too: a renewal without an answer may have prolonged it for others.
	c.release(ctx, l, log)
	if late := <-over; err == nil {
		err = late
	}
	switch {
	case !inOrder:
		log.Warn("this conductor has lost the group: all that was under way was cancelled", "err", l.Check())
		if c.View().Candidates(l.Group, c.Self.Name) {
			_ = pause(ctx, retryTime) // they are in better shape
		}
	case err != nil && work.Err() == nil:
		log.Error("this conductor cannot lead the group", "err", err)
		_ = pause(ctx, retryTime)
	default:
		log.Info("this conductor has given the group back")
	}
}

// release gives the group back. Should that fail, the time of the leadership ends by itself.
func (c *Cluster) release(ctx context.Context, l *Lease, log *slog.Logger) {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	if err := c.Rows.Release(within, l.Group, l.Epoch); err != nil {
		log.Warn("the group was not given back: it is free when its time is over", "after", holdTime, "err", err)
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
