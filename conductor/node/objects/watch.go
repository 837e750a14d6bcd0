package objects

import (
	"context"
	"sync"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// EventType is the kind of a change of a document.
type EventType string

// Event types.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
)

// Event is one write.
type Event struct {
	Type     EventType
	Key      Key
	Revision int64
	// Before and After are the labels of the document on either side of the write.
	Before, After map[string]string
	text          []byte
}

// Document is the document as it was after the write, or last before it was
// deleted. It is the caller's own.
func (e Event) Document() (hostapi.Document, error) { return parse(e.Key, e.text, e.Revision) }

// Filter says which documents. Empty fields match everything.
type Filter struct{ Kind, Namespace, Name string }

func (f Filter) matches(k Key) bool {
	is := func(want, is string) bool { return want == "" || want == is }
	return is(f.Kind, k.Kind) && is(f.Namespace, k.Namespace) && is(f.Name, k.Name)
}

// window is the newest events, in order. A follower has a place in it and no buffer: when it
// is too slow, its place is gone.
type window struct {
	mu       sync.Mutex
	events   []Event
	bytes    int
	after    int64         // the events are all there are after this revision
	newest   int64         // and this is the last of them
	more     chan struct{} // closed when there are more
	maxCount int
	maxBytes int
}

func newWindow(revision int64, count, bytes int) *window {
	return &window{after: revision, newest: revision, more: make(chan struct{}), maxCount: count, maxBytes: bytes}
}

func (w *window) add(events []Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, events...)
	for _, e := range events {
		w.bytes += len(e.text)
		w.newest = e.Revision
	}
	gone := 0
	for ; len(w.events)-gone > w.maxCount || w.bytes > w.maxBytes; gone++ {
		w.bytes -= len(w.events[gone].text)
		w.after = w.events[gone].Revision
	}
	clear(w.events[:gone]) // the memory behind the slice lives on
	w.events = w.events[gone:]
	close(w.more)
	w.more = make(chan struct{})
}

// next returns the first event after a revision that a filter wants. If there is none, it returns the revision seen so
// far and a channel that is closed when there is more.
func (w *window) next(f Filter, from int64) (e Event, found bool, seen int64, more <-chan struct{}, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if from < w.after {
		return Event{}, false, from, nil, ErrExpired
	}
	for _, e := range w.events[w.behind(from):] {
		if f.matches(e.Key) {
			return e, true, e.Revision, nil, nil
		}
	}
	return Event{}, false, max(from, w.newest), w.more, nil
}

// behind is the place of the first event after a revision: revisions have no
// gaps, each write having one event.
func (w *window) behind(from int64) int {
	return int(min(max(from-w.after, 0), int64(len(w.events))))
}

// Watcher follows documents. It is for one goroutine, and holds nothing that
// needs closing.
type Watcher struct {
	events *window
	filter Filter
	seen   int64
}

// Watch follows documents from a revision on, which is not included;
// ErrExpired when it is too old.
func (k *Keeper) Watch(f Filter, from int64) (*Watcher, error) {
	w := &Watcher{events: k.events, filter: f, seen: from}
	_, _, _, _, err := k.events.next(f, from)
	return w, err
}

// Next waits for the next event. It returns ErrExpired when the watcher has
// fallen behind, or the end of ctx.
func (w *Watcher) Next(ctx context.Context) (Event, error) {
	for {
		e, found, seen, more, err := w.events.next(w.filter, w.seen)
		if err != nil {
			return Event{}, err
		}
		w.seen = seen
		if found {
			return e, nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return Event{}, context.Cause(ctx)
		}
	}
}

// Seen is the revision up to which the watcher has seen everything.
func (w *Watcher) Seen() int64 { return w.seen }
