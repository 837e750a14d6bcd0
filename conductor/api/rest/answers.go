package rest

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Bounds of memory for answers, from before the store is asked until their readers, who may be slow, have taken them.
const (
	answersEach = 64 << 20
	answersAll  = 160 << 20
	// How long a request waits for room. A page is rendered in a fraction of a second.
	answerWait = 10 * time.Second
)

// maxPage is how many bytes of an answer end a page of a list: clients read on at its next. A page of a thousand nodes
// with all their fields is 3 MB and more.
const maxPage = 8 << 20

// pageRoom is what a page may hold while it is rendered: its text, and a batch of records.
const pageRoom = maxPage * 3 / 2

// Room is what one answer may hold in memory.
type Room struct {
	in   *bodies
	of   *http.Request
	from netip.Addr
	held int64
}

// Room is room for the answer to a request, of 64 KiB: every answer has these. End gives it back.
func (s *Server) Room(r *http.Request) *Room {
	return &Room{in: s.answers, of: r, from: clientaddr.Of(r)}
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
	if m.in.take(m.from, n) {
		m.held = n
		return nil
	}
	if m.in.freed == nil {
		m.in.freed = make(chan struct{})
	}
	return m.in.freed
}

// End gives back what is held.
func (m *Room) End() {
	if m.held == 0 {
		return
	}
	m.in.mu.Lock()
	defer m.in.mu.Unlock()
	m.in.give(m.from, m.held)
	m.held = 0
}
