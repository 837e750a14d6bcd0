package events

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Store is the part of a store that has events.
type Store interface {
	Events(ctx context.Context, after int64, limit int) ([]node.ChangeEvent, error)
	EventLog(ctx context.Context) (node.EventLog, error)
	SequenceEvents(ctx context.Context) (more bool, err error)
	PruneEvents(ctx context.Context, keep node.EventRetention) (int, error)
}

// Places keeps how far readers of events have come.
type Places interface {
	// EventReader is the place of a reader; false for a new one.
	EventReader(ctx context.Context, name string) (int64, bool, error)
	// SaveEventReader keeps the place of a reader.
	SaveEventReader(ctx context.Context, name string, position int64) error
	// KeepEventReaders forgets all other readers.
	KeepEventReaders(ctx context.Context, names []string) error
}

// Config holds the dependencies and bounds of a Log.
type Config struct {
	Store Store
	// Node finds the node of an unstored event.
	Node func(ctx context.Context, ref string) (node.Node, error)
	Log  *slog.Logger
	Now  func() time.Time // time.Now when nil
	Keep int              // how many events are kept
	Age  time.Duration    // how long, at most
	// Needed gets the newest position, and returns the position after which events are still needed; negative for none.
	// Nil: none are needed.
	Needed    func(newest int64) int64
	Conductor string
	// By returns the sender of the request that changes a document; nil, or empty texts, for none.
	By func(ctx context.Context) (user, project string)
}

// The bounds of the events in memory, and how often the database is read.
const (
	ringSize  = 4096 // events that were read
	liveSize  = 1024 // unstored events
	page      = 256
	pollEvery = time.Second
	// Commits within this time are read together: the short pause with followers, the long one without.
	shortPause = 20 * time.Millisecond
	longPause  = 250 * time.Millisecond
	pruneEvery = time.Minute
)

// Log is the events of a database. It is safe for concurrent use.
type Log struct {
	Config
	id    string // of the database
	woken chan struct{}

	reports chan report

	mu        sync.Mutex
	followers int
	ring      []Event // the last that were read, oldest first
	last      int64   // the position of the last that was read
	live      []Event // unstored events, oldest first
	passed    uint64  // how many passed in all
	changed   chan struct{}

	aged time.Time // from when on events are deleted for their age
}

// New makes a Log of the events in a store.
func New(ctx context.Context, c Config) (*Log, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	found, err := c.Store.EventLog(ctx)
	if err != nil {
		return nil, err
	}
	l := &Log{Config: c, id: found.ID, last: found.Newest, woken: make(chan struct{}, 1), changed: make(chan struct{}),
		reports: make(chan report, maxReports)}
	return l, l.doubt(ctx)
}

// doubt gives events one full age more if the newest of them is of long ago, or of a time to come: the conductor was
// away for long, or its clock was set.
func (l *Log) doubt(ctx context.Context) error {
	newest, err := l.Store.Events(ctx, l.last-1, 1)
	if err != nil || len(newest) == 0 {
		return err
	}
	now := l.Now()
	if age := now.Sub(newest[0].At); age < -time.Minute || age > l.Age/8 {
		l.aged = now.Add(l.Age)
	}
	return nil
}

// Wake has the log look for events at once.
func (l *Log) Wake() {
	select {
	case l.woken <- struct{}{}:
	default:
	}
}

// Committed has the log look for the events of a change.
func (l *Log) Committed(_ context.Context, c *node.Committed) {
	if len(c.Events) > 0 {
		l.Wake()
	}
}

// Run sends reports, reads events for followers, and deletes old ones, until ctx ends.
func (l *Log) Run(ctx context.Context) {
	var sent sync.WaitGroup
	defer sent.Wait()
	sent.Go(func() { l.sendReports(ctx) })
	tick, prune := time.NewTicker(pollEvery), time.NewTicker(pruneEvery)
	defer tick.Stop()
	defer prune.Stop()
	for {
		if err := l.read(ctx); err != nil && ctx.Err() == nil {
			l.Log.Error("events cannot be read; tried again in a second", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-l.woken:
			if sleep(ctx, l.pause()) != nil {
				return
			}
		case <-tick.C:
		case <-prune.C:
			l.prune(ctx)
		}
	}
}

// pause is how long commits are gathered.
func (l *Log) pause() time.Duration {
	if l.Followed() {
		return shortPause
	}
	return longPause
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// read brings the ring up to date. Without followers it only gives events their positions.
func (l *Log) read(ctx context.Context) error {
	for more := true; more; { // those that come meanwhile are the next look's
		var err error
		if more, err = l.Store.SequenceEvents(ctx); err != nil {
			return err
		}
	}
	for {
		l.mu.Lock()
		last, followed := l.last, l.followers > 0
		l.mu.Unlock()
		if !followed {
			return nil
		}
		found, err := l.Store.Events(ctx, last, page)
		if err != nil {
			return err
		}
		l.add(found)
		if len(found) < page {
			return nil
		}
	}
}

// add puts events into the ring, and wakes the followers.
func (l *Log) add(found []node.ChangeEvent) {
	if len(found) == 0 {
		return
	}
	rendered := l.render(found)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ring = append(l.ring, rendered...)
	if over := len(l.ring) - ringSize; over > 0 {
		l.ring = append([]Event(nil), l.ring[over:]...)
	}
	l.last = rendered[len(rendered)-1].position
	l.wakeFollowers()
}

// wakeFollowers wakes all waiting followers. The lock is held.
func (l *Log) wakeFollowers() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// join counts a follower. The first follower starts with an empty ring if that was not kept up to date.
func (l *Log) join(ctx context.Context) (leave func(), err error) {
	l.mu.Lock()
	first := l.followers == 0
	l.followers++
	l.mu.Unlock()
	leave = func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.followers--
	}
	if !first {
		return leave, nil
	}
	found, err := l.Store.EventLog(ctx)
	if err != nil {
		leave()
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if found.Newest > l.last {
		l.ring, l.last = nil, found.Newest
	}
	return leave, nil
}

// prune deletes events that are no longer needed.
func (l *Log) prune(ctx context.Context) {
	keep := node.EventRetention{Count: l.Keep, Needed: -1}
	if now := l.Now(); !now.Before(l.aged) {
		keep.Since = now.Add(-l.Age)
	}
	if l.Needed != nil {
		found, err := l.Store.EventLog(ctx)
		if err != nil {
			return // reading them says so
		}
		keep.Needed = l.Needed(found.Newest)
	}
	for {
		count, err := l.Store.PruneEvents(ctx, keep)
		if err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) {
			l.Log.Warn("old events are not deleted; tried again in a minute", "err", err)
		}
		if err != nil || count == 0 {
			return
		}
	}
}
