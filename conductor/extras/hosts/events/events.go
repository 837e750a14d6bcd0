// Package events keeps the events of hosts, and of documents about them, as kubectl describe shows them: in memory,
// for an hour, bounded for each document and in all.
//
// Nothing may rest on it: it is forgotten with the conductor. A host's state is in its status, and its past in the
// history of its node.
package events

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Limits of the log. Kubernetes keeps events for an hour as well, and no longer messages.
const (
	maxAge     = time.Hour
	maxEach    = 50
	maxAll     = 5000
	maxMessage = 1024 // bytes
)

// component is the source of events: the same name as in Metal3's events.
const component = "metal3-baremetal-controller"

// Log is events, in the order in which they happened last. Each time has a revision
// of its own, by which they are followed. It is safe for concurrent use.
type Log struct {
	now    func() time.Time
	mu     sync.Mutex
	events []*entry
	newest int64         // revision
	lost   int64         // the newest of those that are forgotten
	more   chan struct{} // closed when there are more
}

// entry is an event, with the revision of when it happened last.
type entry struct {
	hostapi.Event
	revision int64
}

// New makes a log without events, by a clock. Revisions begin with the time, so that a follower of an earlier process's
// log is behind this one, and not ahead.
func New(now func() time.Time) *Log {
	at := now().UnixMicro()
	return &Log{now: now, newest: at, lost: at, more: make(chan struct{})}
}

// Add records an event of a document. A repeated event raises the count of the earlier one.
func (l *Log) Add(of hostapi.Document, all []hostapi.Event) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range all {
		l.add(of, now, e)
	}
	l.forget(now)
	close(l.more)
	l.more = make(chan struct{})
}

func (l *Log) add(of hostapi.Document, now time.Time, e hostapi.Event) {
	l.newest++
	d := of.Meta()
	next := &entry{revision: l.newest, Event: hostapi.Event{
		TypeMeta: hostapi.TypeMeta{Kind: hostapi.KindEvent, APIVersion: hostapi.CoreVersion},
		ObjectMeta: hostapi.ObjectMeta{
			Name: fmt.Sprintf("%s.%x", d.Name, l.newest), Namespace: d.Namespace,
			UID: uuid.NewString(), CreationTimestamp: hostapi.At(now),
		},
		InvolvedObject: hostapi.ObjectReference{Kind: of.About().Kind, APIVersion: hostapi.APIVersion, Namespace: d.Namespace,
			Name: d.Name, UID: d.UID},
		Type: e.Type, Reason: e.Reason, Message: cut(e.Message), FirstTimestamp: hostapi.At(now),
		Source: hostapi.EventSource{Component: component},
	}}
	if at := slices.IndexFunc(l.events, func(b *entry) bool { return same(b, next) }); at >= 0 {
		next.Event = l.events[at].Event
		l.events = slices.Delete(l.events, at, at+1)
	}
	next.Count++
	next.LastTimestamp, next.ResourceVersion = hostapi.At(now), strconv.FormatInt(next.revision, 10)
	l.events = append(l.events, next)
	if its := func(b *entry) bool { return b.InvolvedObject.UID == d.UID }; count(l.events, its) > maxEach {
		l.drop(slices.IndexFunc(l.events, its))
	}
}

// drop forgets one event.
func (l *Log) drop(at int) {
	l.lost = max(l.lost, l.events[at].revision)
	l.events = slices.Delete(l.events, at, at+1)
}

// cut is a message, or its beginning, which is all that stays in memory of it.
func cut(message string) string {
	const more = "..."
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage-len(more)], "") + more
}

func same(a, b *entry) bool {
	return a.InvolvedObject.UID == b.InvolvedObject.UID && a.Type == b.Type && a.Reason == b.Reason &&
		a.Message == b.Message
}

func count(all []*entry, of func(*entry) bool) (n int) {
	for _, e := range all {
		if of(e) {
			n++
		}
	}
	return n
}

// forget drops events that are too old, and the oldest when there are too many.
func (l *Log) forget(now time.Time) {
	for len(l.events) > maxAll || len(l.events) > 0 && now.Sub(l.events[0].LastTimestamp.Time) > maxAge {
		l.drop(0)
	}
}

// List is all events there are, in the order in which they happened last, and the
// revision of the newest.
func (l *Log) List() (all []hostapi.Event, revision int64) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(now)
	return l.after(0), l.newest
}

// Since returns the events after a revision, repeated ones among them, the revision of the newest, and a channel that
// is closed when there are more. complete is false when some of them are forgotten, or when the revision is another
// process's.
func (l *Log) Since(revision int64) (all []hostapi.Event, newest int64, more <-chan struct{}, complete bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.after(revision), l.newest, l.more, l.lost <= revision && revision <= l.newest
}

// after is the events after a revision.
func (l *Log) after(revision int64) (all []hostapi.Event) {
	first, _ := slices.BinarySearchFunc(l.events, revision+1, func(e *entry, r int64) int {
		return cmp.Compare(e.revision, r)
	})
	for _, e := range l.events[first:] {
		all = append(all, e.Event)
	}
	return all
}
