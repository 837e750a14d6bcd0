package core

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// expireAtOnce is how many deadlines are read at a time.
const expireAtOnce = 100

// overdue holds the nodes with a passed deadline that could not be handled, by UUID. Each is tried again after a
// growing pause: it must not fill the log or delay other nodes.
type overdue map[string]setback

// setback is how often something has failed in a row, and when it is tried again.
type setback struct {
	times int
	again time.Time
}

// watchDeadlines turns deadlines that have passed into events, until ctx ends.
func (e *Core) watchDeadlines(ctx context.Context) {
	failed := overdue{}
	Repeat(ctx, e.wakeDue, func(ctx context.Context) time.Duration { return e.expire(ctx, failed) })
}

// expire handles the deadlines that have passed, and returns the time until the next look.
func (e *Core) expire(ctx context.Context, failed overdue) time.Duration {
	if e.Held() {
		return PollEvery
	}
	e.looksAt.Store(math.MaxInt64) // this look may miss nodes that are saved from now on
	limit := expireAtOnce + len(failed)
	due, err := e.Store.Expired(ctx, e.Now(), limit)
	if len(due) < limit && err == nil {
		failed.keep(due)
	}
	tried := false
	for _, id := range due {
		if e.Now().Before(failed[id].again) {
			continue
		}
		tried = true
		_, err := e.Act(ctx, id, plan.Expired{})
		if err == nil || errors.Is(err, node.ErrNotFound) {
			delete(failed, id)
			continue
		}
		if ctx.Err() != nil {
			break
		}
		times := failed[id].times + 1
		failed[id] = setback{times, e.Now().Add(Pause(times))}
		e.Log.Error("deadline not taken; it is tried again", "node", id, "after", Pause(times), "err", err)
	}
	next := time.Minute
	if at, ok, err2 := e.Store.NextDeadline(ctx); err2 == nil && ok {
		next = max(min(next, at.Sub(e.Now())), time.Millisecond)
	}
	switch {
	case next >= PollEvery:
	case tried:
		next = PollEvery / 4 // pause: a failed event must not be retried in a busy loop
	case err != nil || len(due) > 0:
		next = PollEvery
	}
	e.looksAt.Store(e.Now().Add(next).UnixNano())
	return next
}

// noteDeadline has the deadlines looked at where one is earlier than the next look. Most are minutes away, and a look
// at each save costs the database more than the save.
func (e *Core) noteDeadline(at time.Time) {
	if !at.IsZero() && at.UnixNano() < e.looksAt.Load() {
		Wake(e.wakeDue)
	}
}

// keep forgets the nodes that are no longer overdue.
func (o overdue) keep(due []string) {
	still := make(map[string]bool, len(due))
	for _, id := range due {
		still[id] = true
	}
	for id := range o {
		if !still[id] {
			delete(o, id)
		}
	}
}
