package rest

import (
	"errors"
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Bounds of memory for answers of one address, or IPv6 /64, and of all. An answer counts from before the store is asked
// until its reader, which may be slow, has taken it.
const (
	answersEach = 64 << 20
	answersAll  = 160 << 20
	// How long a request waits for room. A page is rendered in a fraction of a second.
	answerWait = 10 * time.Second
	answerLook = 250 * time.Millisecond // for those that have become slow meanwhile
)

// Paces at which readers take an answer that holds memory. A reader below the slow pace for a moment gives way to
// others that find no room. A reader below the least pace is cut off.
var (
	slowPace  = pace{rate: 1 << 20, grace: time.Second}
	leastPace = pace{rate: 64 << 10, grace: 30 * time.Second}
)

// pace is a rate in bytes a second, and the longest time by which a reader may be behind it.
type pace struct {
	rate  int64
	grace time.Duration
}

// after is the rest of a grace after n bytes in this time. It never exceeds the grace, so fast bytes earn no credit.
func (p pace) after(left time.Duration, n int, took time.Duration) time.Duration {
	return min(p.grace, left-took+time.Duration(n)*time.Second/time.Duration(p.rate))
}

// maxPage is how many bytes of an answer end a page of a list: clients read on at its next. A page of a thousand nodes
// with all their fields is 3 MB and more.
const maxPage = 8 << 20

// pageRoom is the memory for a page while it is rendered: its text, and a batch of records.
const pageRoom = maxPage * 3 / 2

// Memory is the memory that one answer may hold.
type Memory struct {
	holding
	of *http.Request

	// Under the lock of bodies.
	since      time.Time     // a piece is being written; zero: none is
	slow, late time.Duration // the rest of each pace's grace
}

// Memory reserves memory for the answer to a request, of 64 KiB: every answer has these. End gives it back.
func (s *Server) Memory(r *http.Request) *Memory {
	m := &Memory{holding: holding{in: s.answers, from: connlimit.Network(clientaddr.Of(r))}, of: r,
		slow: slowPace.grace, late: leastPace.grace}
	m.holding.slow = func() bool { return !m.since.IsZero() && time.Since(m.since) > m.slow }
	return m
}

// Resize gives back the bytes held, and takes n bytes instead. It waits for room, and answers a 503 Fault when there is
// none for ten seconds.
func (m *Memory) Resize(n int64) error {
	m.End() // first, so that an answer never waits for its own bytes
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

// take takes n bytes, or returns a channel that is closed when there may be more room.
func (m *Memory) take(n int64) (freed <-chan struct{}) {
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

// errSlow ends an answer that has given its room to another one.
var errSlow = errors.New("the reader took the answer at less than 1 MiB a second, and others had no room for theirs")

// Write answers with text. A reader loses its connection if it falls below the least pace, or below the slow pace while
// other answers find no room.
func (m *Memory) Write(w http.ResponseWriter, text []byte) (n int, err error) {
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

// begin begins a piece, and sets its reader's deadline. Short answers keep the server's deadline.
func (m *Memory) begin(control *http.ResponseController) error {
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
	// Servers' writers have deadlines; some writers in tests have none.
	if err := control.SetWriteDeadline(m.since.Add(m.late)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

func (m *Memory) done(n int) {
	m.in.mu.Lock()
	defer m.in.mu.Unlock()
	took := time.Since(m.since)
	m.since, m.slow, m.late = time.Time{}, slowPace.after(m.slow, n, took), leastPace.after(m.late, n, took)
}
