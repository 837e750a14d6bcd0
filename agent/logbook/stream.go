package logbook

import (
	"bytes"
	"fmt"
	"sync"
)

// Limits of waiting lines: bytes held in all, and of one line.
const (
	maxWaiting = 1 << 20
	maxLine    = 4 << 10
)

// Stream holds lines until they are taken, in order and numbered from the first.
// Adding never waits: if nothing takes them, the oldest are dropped, and a line says
// how many. It is safe for several goroutines.
type Stream struct {
	mu      sync.Mutex
	lines   []string
	bytes   int
	first   int64 // number of lines[0]
	dropped int64 // lines gone since a line last said so
	closed  bool
}

// Write adds the lines of p, so that a Book can write into a Stream. It never
// fails.
func (s *Stream) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		s.Add(string(bytes.TrimRight(line, "\r\n")))
	}
	return len(p), nil
}

// Add adds one line, with the agent token blanked and cut when it is long.
func (s *Stream) Add(line string) {
	line = string(hideTokens([]byte(line)))
	if len(line) > maxLine {
		line = line[:maxLine] + " (cut)"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.lines = append(s.lines, line)
	s.bytes += len(line)
	drop := 0
	for s.bytes > maxWaiting {
		s.bytes -= len(s.lines[drop])
		drop++
	}
	if drop > 0 {
		s.lines = append([]string(nil), s.lines[drop:]...)
		s.first += int64(drop)
		s.dropped += int64(drop)
	}
}

// Next is the oldest lines, up to limits, and the number of the first. They stay until Taken. When lines were dropped,
// a line that says so comes first, in place of the last of them.
func (s *Stream) Next(maxBytes, maxLines int) (first int64, lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dropped > 0 {
		lines = append(lines, fmt.Sprintf("(%d lines dropped: the conductor did not take them in time)", s.dropped))
	}
	first = s.first - int64(len(lines))
	size := 0
	for _, line := range s.lines {
		if size += len(line); size > maxBytes || len(lines) == maxLines {
			break
		}
		lines = append(lines, line)
	}
	return first, lines
}

// Taken forgets the lines before a number: they have arrived.
func (s *Stream) Taken(next int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(max(next-s.first, 0), int64(len(s.lines)))
	for _, line := range s.lines[:n] {
		s.bytes -= len(line)
	}
	s.dropped = max(s.first-next, 0)
	s.lines = append([]string(nil), s.lines[n:]...)
	s.first += n
}

// Close drops the lines, now and in future: nothing will take them.
func (s *Stream) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines, s.bytes, s.closed = nil, 0, true
}
