package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Times of a leadership. The database counts holdTime from its own clock, and the leader validTime from before it
// asked: the leader stops before another one can begin.
const (
	holdTime   = 6 * time.Second
	validTime  = 5 * time.Second
	renewEvery = 2 * time.Second
)

// ErrNotLeading is the error of work that began while this conductor led, and must not go on.
var ErrNotLeading = errors.New("this conductor no longer leads the conductor group")

// Lease is a leadership of this conductor: a group, for as long as it is renewed.
type Lease struct {
	Group string
	Epoch int64

	ctx context.Context //nolint:containedctx // that of the leadership
	end context.CancelCauseFunc

	mu      sync.Mutex
	renewed time.Time // before the database was asked
}

// newLease is a lease that was asked for at a time.
func newLease(group string, epoch int64, asked time.Time) *Lease {
	ctx, end := context.WithCancelCause(context.Background())
	return &Lease{Group: group, Epoch: epoch, ctx: ctx, end: end, renewed: asked}
}

// Context ends when the leadership has.
func (l *Lease) Context() context.Context { return l.ctx }

// Check refuses to go on once the leadership has ended, or was not renewed for too long: a conductor that was frozen
// finds out here before it does anything.
func (l *Lease) Check() error {
	if l.ctx.Err() == nil && l.age() > validTime {
		l.End(fmt.Errorf("it was not renewed for %s", l.age().Round(time.Millisecond)))
	}
	if l.ctx.Err() != nil {
		return fmt.Errorf("%w %q: %w", ErrNotLeading, l.Group, context.Cause(l.ctx))
	}
	return nil
}

// Left is how long the group is reserved for this leader, by the last renewal; 0 once the leadership has ended.
func (l *Lease) Left() time.Duration {
	if l.Check() != nil {
		return 0
	}
	return max(holdTime-l.age(), 0)
}

// End ends the leadership for this conductor.
func (l *Lease) End(why error) { l.end(why) }

// prolong notes a renewal that was asked for at a time.
func (l *Lease) prolong(asked time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.renewed = asked
}

// age is how long ago the last renewal was asked for, by the monotonic clock.
func (l *Lease) age() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.renewed)
}

// watch ends the leadership when it was not renewed in time, until it has ended.
func (l *Lease) watch() {
	for l.Check() == nil {
		timer := time.NewTimer(max(validTime-l.age(), 0) + time.Millisecond)
		select {
		case <-timer.C:
		case <-l.ctx.Done():
			timer.Stop()
		}
	}
}

// renew renews the leadership until it ends.
func (l *Lease) renew(rows Rows) {
	timer := time.NewTimer(renewEvery)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-l.ctx.Done():
			return
		}
		if l.Check() != nil { // after a freeze the database may still take a renewal
			return
		}
		asked := time.Now()
		ctx, cancel := context.WithTimeout(l.ctx, askTime)
		err := rows.Renew(ctx, l.Group, l.Epoch, holdTime)
		cancel()
		switch {
		case err == nil:
			l.prolong(asked)
			timer.Reset(max(renewEvery-time.Since(asked), 0))
		case rows.Superseded(err):
			l.End(err)
		default:
			timer.Reset(lookEvery)
		}
	}
}
