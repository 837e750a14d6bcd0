// Package events keeps what has happened to hosts, and to documents about them, for people
// who ask soon: in memory, for an hour, so many of each document and in all.
//
// Nothing may rest on it: it is forgotten with the conductor. What a host is, and
// what it has come through, is in its status and in the history of its node.
package events

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// What is kept. Kubernetes keeps events for an hour, too, and no longer messages.
const (
	maxAge     = time.Hour
	maxEach    = 50
	maxAll     = 5000
	maxMessage = 1024 // bytes
)

// component is whom events are said to come from: what Metal3's say.
const component = "metal3-baremetal-controller"

// Log is events, in the order in which they happened last. It is safe for
// concurrent use.
type Log struct {
	now    func() time.Time
	mu     sync.Mutex
	events []*hostapi.Event
	told   int // so far
}

// New makes a log without events, by a clock.
func New(now func() time.Time) *Log { return &Log{now: now} }

// Add tells what has happened to a document just now. What has happened before is
// counted once more.
func (l *Log) Add(of hostapi.Document, all []hostapi.Event) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range all {
		l.add(of, now, e)
	}
	l.forget(now)
}

func (l *Log) add(of hostapi.Document, now time.Time, e hostapi.Event) {
	l.told++
	d := of.Meta()
	next := &hostapi.Event{
		TypeMeta: hostapi.TypeMeta{Kind: hostapi.KindEvent, APIVersion: hostapi.CoreVersion},
		ObjectMeta: hostapi.ObjectMeta{
			Name: fmt.Sprintf("%s.%x.%x", d.Name, now.UnixNano(), l.told), Namespace: d.Namespace,
			UID: uuid.NewString(), CreationTimestamp: hostapi.At(now),
		},
		InvolvedObject: hostapi.ObjectReference{Kind: of.About().Kind, APIVersion: hostapi.APIVersion, Namespace: d.Namespace, Name: d.Name, UID: d.UID},
		Type:           e.Type, Reason: e.Reason, Message: cut(e.Message), FirstTimestamp: hostapi.At(now), Source: hostapi.EventSource{Component: component},
	}
	if at := slices.IndexFunc(l.events, func(b *hostapi.Event) bool { return same(b, next) }); at >= 0 {
		next = l.events[at]
		l.events = slices.Delete(l.events, at, at+1)
	}
	next.Count++
	next.LastTimestamp = hostapi.At(now)
	l.events = append(l.events, next)
	if its := func(b *hostapi.Event) bool { return b.InvolvedObject.UID == d.UID }; count(l.events, its) > maxEach {
		oldest := slices.IndexFunc(l.events, its)
		l.events = slices.Delete(l.events, oldest, oldest+1)
	}
}

// cut is a message, or its beginning, which is all that stays in memory of it.
func cut(message string) string {
	const more = "..."
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage-len(more)], "") + more
}

func same(a, b *hostapi.Event) bool {
	return a.InvolvedObject.UID == b.InvolvedObject.UID && a.Type == b.Type && a.Reason == b.Reason && a.Message == b.Message
}

func count(all []*hostapi.Event, of func(*hostapi.Event) bool) (n int) {
	for _, e := range all {
		if of(e) {
			n++
		}
	}
	return n
}

// forget drops what is too old, or too much.
func (l *Log) forget(now time.Time) {
	l.events = slices.DeleteFunc(l.events, func(e *hostapi.Event) bool { return now.Sub(e.LastTimestamp.Time) > maxAge })
	if over := len(l.events) - maxAll; over > 0 {
		l.events = slices.Delete(l.events, 0, over)
	}
}

// List is all events there are, in the order in which they happened last.
func (l *Log) List() (all []hostapi.Event) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(now)
	for _, e := range l.events {
		all = append(all, *e)
	}
	return all
}
