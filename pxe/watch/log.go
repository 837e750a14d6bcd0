// Package watch keeps the latest events of a boot network, and lets readers follow them.
//
// Its memory is bounded against any traffic. Each machine has room for a few events, so a noisy one takes no room from
// others, and strangers take none from enrolled machines. It must not decide anything, and nothing waits for it.
package watch

import (
	"cmp"
	"container/list"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
)

// The bounds. An event takes up to 700 bytes: in all that is some 16 MiB at most.
const (
	maxKnown     = 1024 // enrolled machines
	maxStrangers = 256  // others, and addresses without a machine
	eachKnown    = 20   // events of one
	eachStranger = 8
	maxText      = 120 // characters of a text that a machine wrote, or that goes into an event
)

// class is the machines that share room.
type class struct {
	each, most int
	order      *list.List // of *machine, the quietest first
}

// machine is the latest events of one.
type machine struct {
	key    string
	of     *class
	at     *list.Element
	events []pxe.Event // oldest first
}

// Log is the latest events. It is safe for concurrent use.
type Log struct {
	now       func() time.Time
	otherDHCP bool

	mu               sync.Mutex
	id               uint64
	machines         map[string]*machine
	known, strangers *class
	servers          servers
	changed          chan struct{} // closed at the next event; nil without a waiting reader
	readers          map[*Reader]bool
}

// New returns an empty log. IDs go on ascending in the log of a later process. With otherDHCP the configuration says
// that there is another DHCP server.
func New(now func() time.Time, otherDHCP bool) *Log {
	return &Log{
		now: now, otherDHCP: otherDHCP, id: uint64(max(0, now().UnixMicro())),
		machines: map[string]*machine{}, readers: map[*Reader]bool{},
		known:     &class{eachKnown, maxKnown, list.New()},
		strangers: &class{eachStranger, maxStrangers, list.New()},
		servers:   servers{},
	}
}

// Record takes note of an event.
func (l *Log) Record(e pxe.Event) {
	e.File, e.Detail, e.Answer, e.Message = plain(e.File), plain(e.Detail), plain(e.Answer), plain(e.Message)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.id++
	e.ID, e.At, e.Times = l.id, l.now(), 1
	e.MAC = slices.Clone(e.MAC) // of a packet, perhaps
	l.heard(e)
	m := l.machine(e)
	if last := len(m.events) - 1; last >= 0 && same(m.events[last], e) {
		e.Times += m.events[last].Times
		m.events[last] = e
	} else {
		if len(m.events) >= m.of.each {
			l.drop(m.events[0])
			m.events = append(m.events[:0], m.events[1:]...)
		}
		m.events = append(m.events, e)
	}
	m.of.order.MoveToBack(m.at)
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// same reports whether b repeats a: firmware asks several times until it gives up.
func same(a, b pxe.Event) bool {
	a.ID, a.At, a.Times, b.ID, b.At, b.Times = 0, time.Time{}, 0, 0, time.Time{}, 0
	mac := a.MAC.String() == b.MAC.String()
	a.MAC, b.MAC = nil, nil
	return mac && a.Service == b.Service && a.Message == b.Message && a.File == b.File && a.Answer == b.Answer &&
		a.Reason == b.Reason && a.IP == b.IP && a.Relay == b.Relay && a.Detail == b.Detail && a.Firmware == b.Firmware &&
		a.Arch == b.Arch && a.Server == b.Server
}

// machine is where an event belongs. Room is made in the machine's own class: the
// longest quiet goes. The lock is held.
func (l *Log) machine(e pxe.Event) *machine {
	key := string(e.MAC)
	if key == "" || e.Claimed {
		key = e.IP.String()
	}
	m := l.machines[key]
	of := l.strangers
	if e.Known && !e.Claimed || m != nil && m.of == l.known {
		of = l.known
	}
	if m != nil && m.of == of {
		return m
	}
	if of.order.Len() >= of.most {
		if quiet, ok := of.order.Front().Value.(*machine); ok {
			l.remove(quiet)
		}
	}
	if m == nil {
		m = &machine{key: key, events: make([]pxe.Event, 0, 2)} // an offer and an acknowledgement
		l.machines[key] = m
	} else { // it has been enrolled
		m.of.order.Remove(m.at)
	}
	m.of = of
	m.at = of.order.PushBack(m)
	return m
}

func (l *Log) remove(m *machine) {
	for _, e := range m.events {
		l.drop(e)
	}
	m.of.order.Remove(m.at)
	delete(l.machines, m.key)
}

// drop counts an event as lost for readers that have not read it.
func (l *Log) drop(e pxe.Event) {
	for r := range l.readers {
		if e.ID > r.last {
			r.lost++
		}
	}
}

// after is the events that came after an ID, in their order. The lock is held.
func (l *Log) after(id uint64) (all []pxe.Event) {
	for m := range maps.Values(l.machines) {
		for i := len(m.events) - 1; i >= 0 && m.events[i].ID > id; i-- {
			all = append(all, m.events[i])
		}
	}
	slices.SortFunc(all, func(a, b pxe.Event) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Reader follows the events. It is for one goroutine.
type Reader struct {
	log  *Log
	last uint64 // read
	lost int    // went before they were read
}

// Read begins to follow after the event with an ID; 0 begins with the oldest there is. Close must
// follow.
func (l *Log) Read(after uint64) *Reader {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := &Reader{log: l, last: after}
	l.readers[r] = true
	return r
}

// Close ends the following.
func (r *Reader) Close() {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	delete(r.log.readers, r)
}

// Now returns the events since the last call, and how many were lost before they could be read.
func (r *Reader) Now() (all []pxe.Event, lost int) {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	all, lost = r.log.after(r.last), r.lost
	r.last, r.lost = max(r.last, r.log.id), 0
	return all, lost
}

// Wait returns when there is something new, or with the error of a context that ended.
func (r *Reader) Wait(ctx context.Context) error {
	r.log.mu.Lock()
	if r.log.id > r.last {
		r.log.mu.Unlock()
		return nil
	}
	if r.log.changed == nil {
		r.log.changed = make(chan struct{})
	}
	changed := r.log.changed
	r.log.mu.Unlock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// plain makes a text fit for a line, and bounds it.
func plain(s string) string {
	if len(s) > 4*maxText {
		s = s[:4*maxText]
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	return strings.Clone(s[:min(len(s), maxText)])
}
