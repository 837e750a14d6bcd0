package enginetest

import "sync"

// Shelf is a BootLogs. By default its machines send no logs by themselves.
type Shelf struct {
	Sent bool

	mu        sync.Mutex
	Collected []string
}

// Tail returns no lines.
func (s *Shelf) Tail(string, int) []string { return nil }

// Forget keeps everything.
func (s *Shelf) Forget(string) error { return nil }

// Has reports whether machines send logs by themselves.
func (s *Shelf) Has(string, string) bool { return s.Sent }

// Collect keeps an archive.
func (s *Shelf) Collect(_, _, archive string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Collected = append(s.Collected, archive)
	return "1 files, 9 lines", nil
}
