package redfish

import (
	"maps"
	"net/http"
	"sync"
)

// maxCalls bounds the number of distinct calls counted.
const maxCalls = 1000

// Counters counts the requests of clients since the controller was made: the proof that a conductor does not hammer it.
type Counters struct {
	Requests      int
	Logins        int // sessions asked for and basic authentications
	LoginFailures int
	Sessions      int // open now
	InFlight      int // requests being answered now
	MaxInFlight   int
	Hanging       int            // kept waiting by the fault Hang now
	Calls         map[string]int // by "METHOD /path"
}

type counters struct {
	mu sync.Mutex
	c  Counters
}

func newCounters() *counters { return &counters{c: Counters{Calls: map[string]int{}}} }

// begin counts a request; the function it returns ends it, however often it is
// called.
func (c *counters) begin(r *http.Request) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.c.Requests++
	c.c.InFlight++
	c.c.MaxInFlight = max(c.c.MaxInFlight, c.c.InFlight)
	call := r.Method + " " + r.URL.Path
	if _, known := c.c.Calls[call]; known || len(c.c.Calls) < maxCalls {
		c.c.Calls[call]++
	}
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.c.InFlight--
	})
}

// answering ends the count of a request with the first byte of its answer: a
// client may have all of the answer, and send its next request, before the
// handler has returned.
type answering struct {
	http.ResponseWriter
	end func()
}

func (a answering) Write(b []byte) (int, error) {
	a.end()
	return a.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController find the connection's own writer.
func (a answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (c *counters) login(ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.c.Logins++
	if !ok {
		c.c.LoginFailures++
	}
}

func (c *counters) hang(by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.c.Hanging += by
}

// Counters is a copy of the counts now.
func (s *Server) Counters() Counters {
	open := len(s.sessions.all())
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	c := s.counters.c
	c.Calls = maps.Clone(c.Calls)
	c.Sessions = open
	return c
}
