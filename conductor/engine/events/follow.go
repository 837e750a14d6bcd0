package events

import (
	"context"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Query selects the events of one reader.
type Query struct {
	After string        // a cursor; "0" for the oldest kept event, "" for future events only
	Wait  time.Duration // how long to wait for the first; negative for ever, and on
	// See reports whether an event is wanted, and is to be seen, and whether it is shown as to a lessee; nil for all.
	See func(e *Event) (shown, asLessee bool)
}

// begin is the position that a query begins after, and the newest there is.
func (l *Log) begin(ctx context.Context, after string) (at, newest int64, err error) {
	log, err := l.Store.EventLog(ctx)
	if err != nil {
		return 0, 0, err
	}
	switch after {
	case "":
		return log.Newest, log.Newest, nil
	case "0":
		return log.Gone, log.Newest, nil
	}
	c, err := parseCursor(after)
	if err != nil {
		return 0, 0, err
	}
	at, ours := c.at[every]
	switch {
	case c.database != l.id || !ours:
		return 0, 0, &CursorError{Text: "The cursor is of another database: begin anew, with after=0, or without a cursor"}
	case at < log.Gone:
		return 0, 0, errGone()
	case at > log.Newest:
		return 0, 0, &CursorError{Gone: true, Text: fmt.Sprintf("The cursor is %d events ahead of the database, which was "+
			"restored from a backup: read the nodes anew, and go on with after=0", at-log.Newest)}
	}
	return at, log.Newest, nil
}

func errGone() error {
	return &CursorError{Gone: true, Text: "The events that follow the cursor are deleted (see --events-keep and " +
		"--events-age): read the nodes anew, and go on with after=0"}
}

// Follow calls emit with events, in their order, as they come. It returns when ctx ends, when emit fails, or after the
// wait of the query. emit is first called with none, when it is known that the query can be answered.
func (l *Log) Follow(ctx context.Context, q Query, emit func([]Event) error) error {
	leave, err := l.join(ctx)
	if err != nil {
		return err
	}
	defer leave()
	at, newest, err := l.begin(ctx, q.After)
	if err != nil {
		return err
	}
	if err := emit(nil); err != nil {
		return err
	}
	l.Wake()
	wait, cancel := context.WithCancel(ctx)
	if q.Wait >= 0 {
		wait, cancel = context.WithTimeout(ctx, q.Wait)
	}
	defer cancel()
	return (&follower{log: l, at: at, passed: l.nowPassed()}).follow(ctx, wait, newest, q, emit)
}

// follow emits the events that follow. A query with a limited wait ends when it has emitted all up to newest, and at
// least one.
func (f *follower) follow(ctx, wait context.Context, newest int64, q Query, emit func([]Event) error) error {
	sent := false
	for {
		found, changed, err := f.next(ctx)
		if err != nil {
			return err
		}
		if wanted := chosen(found, q.See); len(wanted) > 0 {
			if err := emit(wanted); err != nil {
				return err
			}
			sent = true
		}
		switch {
		case len(found) > 0 && (q.Wait < 0 || f.at < newest || !sent):
			continue
		case sent && q.Wait >= 0:
			return nil
		}
		select {
		case <-wait.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// chosen is the events that are wanted.
func chosen(found []Event, see func(*Event) (shown, asLessee bool)) (wanted []Event) {
	for i := range found {
		e := found[i]
		if see != nil {
			shown, asLessee := see(&e)
			if !shown {
				continue
			}
			if asLessee {
				e.Line = e.spare
			}
		}
		if e.Line != nil {
			wanted = append(wanted, e)
		}
	}
	return wanted
}

func (l *Log) nowPassed() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.passed
}

// follower is a place in the events.
type follower struct {
	log    *Log
	at     int64
	passed uint64
}

// missed is an error when events that follow were deleted before they were read: a follower that is as slow as that
// has to begin anew.
func (f *follower) missed(ctx context.Context, stored []node.ChangeEvent) error {
	if len(stored) > 0 && stored[0].Position == f.at+1 {
		return nil
	}
	log, err := f.log.Store.EventLog(ctx)
	if err == nil && f.at < log.Gone {
		err = errGone()
	}
	return err
}

// next returns the events that follow, and the channel that is closed when there are more. It reads events that are no
// longer in memory from the database.
func (f *follower) next(ctx context.Context) (found []Event, changed <-chan struct{}, err error) {
	l := f.log
	l.mu.Lock()
	changed = l.changed
	behind := f.at < l.last
	if behind && len(l.ring) > 0 && l.ring[0].position <= f.at+1 {
		found, behind = l.after(f.at), false
	}
	if !behind {
		found = append(found, l.livedAfter(f.passed)...)
		f.passed = l.passed
	}
	l.mu.Unlock()
	if behind {
		var stored []node.ChangeEvent
		if stored, err = l.Store.Events(ctx, f.at, page); err != nil {
			return nil, nil, err
		}
		if found, err = l.render(stored), f.missed(ctx, stored); err != nil {
			return nil, nil, err
		}
	}
	for _, e := range found {
		f.at = max(f.at, e.position)
	}
	return found, changed, nil
}

// after copies events of the ring that come after a position, a page at most. The lock is held.
func (l *Log) after(at int64) []Event {
	for i := range l.ring {
		if l.ring[i].position > at {
			return append([]Event(nil), l.ring[i:min(len(l.ring), i+page)]...)
		}
	}
	return nil
}

// livedAfter copies the unstored events after the first passed ones. The lock is held.
func (l *Log) livedAfter(passed uint64) []Event {
	count := min(l.passed-passed, uint64(len(l.live)))
	return append([]Event(nil), l.live[uint64(len(l.live))-count:]...)
}
