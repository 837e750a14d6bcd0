package engine_test

import "sync"

// shelf is a BootLogs. By default its machines send no logs by themselves.
type shelf struct {
	told bool

	mu        sync.Mutex
	collected []string
}

func (s *shelf) Tail(string, int) []string { return nil }

func (s *shelf) Forget(string) error { return nil }

func (s *shelf) Has(string, string) bool { return s.told }

func (s *shelf) Collect(_, _, archive string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.collected = append(s.collected, archive)
	return "1 files, 9 lines", nil
}
