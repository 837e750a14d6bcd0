package kube

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestLines: of all watches that get a write at one moment one renders the line, and the
// cache is bounded.
func TestLines(t *testing.T) {
	l := newLines()
	var rendered atomic.Int64
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			for revision := range int64(20) {
				text, err := l.of(lineKey{revision: revision}, func() ([]byte, error) {
					rendered.Add(1)
					return []byte{byte(revision)}, nil
				})
				if err != nil || len(text) != 1 || text[0] != byte(revision) {
					t.Errorf("revision %d: %v, %v", revision, text, err)
				}
			}
		})
	}
	all.Wait()
	if n := rendered.Load(); n != 20 {
		t.Errorf("20 lines were rendered %d times", n)
	}
	for revision := range int64(1000) {
		size := 1
		if revision > 500 {
			size = 1 << 20
		}
		if _, err := l.of(lineKey{revision: 100 + revision}, func() ([]byte, error) {
			return []byte(strings.Repeat("x", size)), nil
		}); err != nil {
			t.Error(err)
		}
		if len(l.known) > linesKept || len(l.order) != len(l.known) || l.bytes > linesBytes {
			t.Fatalf("%d lines of %d bytes are kept, %d in order", len(l.known), l.bytes, len(l.order))
		}
	}
	if len(l.known) != linesBytes>>20 {
		t.Errorf("%d lines of 1 MiB are kept", len(l.known))
	}
	broken := errors.New("broken")
	if _, err := l.of(lineKey{}, func() ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("a line that cannot be rendered: %v", err)
	}
}
