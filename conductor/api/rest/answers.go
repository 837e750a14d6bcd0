package rest

import (
	"errors"
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Bounds of memory for answers, from before the store is asked until their readers, who may be slow, have taken them.
// Of one address, or IPv6 /64, and of all.
const (
	answersEach = 64 << 20
	answersAll  = 160 << 20
	// How long a request waits for room. A page is rendered in a fraction of a second.
	answerWait = 10 * time.Second
	answerLook = 250 * time.Millisecond // for those that have become slow meanwhile
)

// Paces at which readers take an answer that holds memory. Whoever is below the slow one for a moment gives way to
// others that find no room, and whoever is below the least one is cut off.
var (
	slowPace  = pace{rate: 1 << 20, grace: time.Second}
	leastPace = pace{rate: 64 << 10, grace: 30 * time.Second}
)

// pace is a rate in bytes a second, and the longest time by which a reader may be behind it.
type pace struct {
	rate  int64
	grace time.Duration
}

// after is what is left of a grace when n bytes have taken so long: bytes that come quickly are not saved up.
func (p pace) after(left time.Duration, n int, took time.Duration) time.Duration {
	return min(p.grace, left-took+time.Duration(n)*time.Second/time.Duration(p.rate))
}

// maxPage is how many bytes of an answer end a page of a list: clients read on at its next. A page of a thousand nodes
// with all their fields is 3 MB and more.
const maxPage = 8 << 20

// pageRoom is what a page may hold while it is rendered: its text, and a batch of records.
const pageRoom = maxPage * 3 / 2

// Room is what one answer may hold in memory.
type Room struct {
	holding
	of *http.Request

	// Under the lock of bodies.
	since      time.Time     // a piece is being written; zero: none is
	slow, late time.Duration // what is left of the graces of the paces
}

// Room is room for the answer to a request, of 64 KiB: every answer has these. End gives it back.
func (s *Server) Room(r *http.Request) *Room {
	m := &Room{holding: holding{in: s.answers, from: connlimit.Network(clientaddr.Of(r))}, of: r,
		slow: slowPace.grace, late: leastPace.grace}
	m.holding.slow = func() bool { return !m.since.IsZero() && time.Since(m.since) > m.slow }
	return m
}

// Resize gives back what is held, and takes n bytes instead. It waits for room, and answers a 503 Fault when there is
// none for ten seconds.
func (m *Room) Resize(n int64) error {
	m.End() // first: nobody waits for what it holds itself
	if n -= freeBody; n <= 0 {
		return nil
	}
	timer := time.NewTimer(answerWait)
	defer timer.Stop()
	for {
		freed := m.take(n)
		if freed == nil {
			return nil
		}
		select {
		case <-freed:
		case <-time.After(answerLook):
		case <-m.of.Context().Done():
			return m.of.Context().Err()
		case <-timer.C:
			return nodeapi.NewFault(http.StatusServiceUnavailable,
				"Too many long answers are under way that their readers have not taken; please retry in a few seconds, or ask "+
					"for fewer with limit")
		}
	}
}

// take takes n bytes, or returns what is closed when there may be more room.
func (m *Room) take(n int64) (freed <-chan struct{}) {
	m.in.mu.Lock()
	defer m.in.mu.Unlock()
	if m.in.more(&m.holding, n) {
		return nil
	}
	if m.in.freed == nil {
		m.in.freed = make(chan struct{})
	}
	return m.in.freed
}

// answerPiece is as much as is written at a time.
const answerPiece = 64 << 10

// errSlow ends an answer whose room another one got.
var errSlow = errors.New("the reader took the answer at less than 1 MiB a second, and others had no room for theirs")

// Write answers with text. A reader that does not keep the least pace, or the slow one while others find no room, loses
// its connection.
func (m *Room) Write(w http.ResponseWriter, text []byte) (n int, err error) {
	control := http.NewResponseController(w)
	for err == nil && n < len(text) {
		if err = m.begin(control); err != nil {
			break
		}
		var wrote int
		wrote, err = w.Write(text[n:min(len(text), n+answerPiece)])
		n += wrote
		m.done(wrote)
	}
	return n, err
}

// begin begins a piece, with the time that its reader has for it. Those of short answers have the server's.
func (m *Room) begin(control *http.ResponseController) error {
	m.in.mu.Lock()
	defer m.in.mu.Unlock()
	m.since = time.Now()
	m.off = func() { _ = control.SetWriteDeadline(time.Unix(1, 0)) } // which ends a piece under way, and the connection
	switch {
	case m.gone:
		return errSlow
	case m.taken == 0:
		return nil
	}
	// Not every writer has deadlines, in tests; those of servers have.
	if err := control.SetWriteDeadline(m.since.Add(m.late)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

func (m *Room) done(n int) {
	m.in.mu.Lock()
	defer m.in.mu.Unlock()
	took := time.Since(m.since)
	m.since, m.slow, m.late = time.Time{}, slowPace.after(m.slow, n, took), leastPace.after(m.late, n, took)
}
