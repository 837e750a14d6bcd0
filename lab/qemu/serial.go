package qemu

import (
	"net"
	"sync"
	"time"
)

// writeTime bounds how long a machine that reads none of its serial line holds up a writer.
const writeTime = 2 * time.Second

// Serial is a machine's serial line through all its starts. It is safe for concurrent use.
type Serial struct {
	mu       sync.Mutex
	watchers map[int]func([]byte)
	next     int
	conn     net.Conn // of the newest process; nil before the first
}

// Serial is the machine's serial line.
func (m *Machine) Serial() *Serial { return &m.serial }

// Watch passes the machine's output to see, until stop is called. see must not block, nor keep the bytes.
func (s *Serial) Watch(see func([]byte)) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watchers == nil {
		s.watchers = map[int]func([]byte){}
	}
	id := s.next
	s.next++
	s.watchers[id] = see
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, id)
	}
}

// Write types. A machine that is off, or reads nothing, loses it, as on a real line.
func (s *Serial) Write(data []byte) (int, error) {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	if conn != nil && conn.SetWriteDeadline(time.Now().Add(writeTime)) == nil {
		_, _ = conn.Write(data)
	}
	return len(data), nil
}

// join connects the line with a process.
func (s *Serial) join(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn = conn
}

// wrote shows the machine's bytes to all that watch.
func (s *Serial) wrote(data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, see := range s.watchers {
		see(data)
	}
}
