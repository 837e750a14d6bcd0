// Package broken is a store that fails on command. It tests how an engine copes with a refused write, and with a write
// that took effect although its answer was lost.
//
// It must not keep anything itself: it wraps a store that does.
package broken

import (
	"context"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// Fault is one failure to come.
type Fault struct {
	Method string // "Commit", "Claim", ...; "" for any
	Nth    int    // which of the matching calls from now on, 1 for the next; 0 for all of them
	After  bool   // let the call take effect first, and lose its answer
	Err    error
}

// Store passes calls on to the store it wraps until a fault is due.
type Store struct {
	// Before is called before each call, and may keep it waiting; nil for nothing.
	Before func()

	inner store.Store

	mu     sync.Mutex
	faults []Fault
	calls  map[string]int
}

// Wrap makes a store that does not fail yet.
func Wrap(inner store.Store) *Store {
	return &Store{inner: inner, calls: map[string]int{}}
}

// Fail adds a fault.
func (s *Store) Fail(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, f)
}

// Heal forgets all faults.
func (s *Store) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// Calls says how often a method was called, failed calls included.
func (s *Store) Calls(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[method]
}

// due counts the call and returns the fault that meets it, if any.
func (s *Store) due(method string) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[method]++
	var hit *Fault
	kept := s.faults[:0:0]
	for _, f := range s.faults {
		if f.Method != "" && f.Method != method {
			kept = append(kept, f)
			continue
		}
		switch f.Nth {
		case 0: // for ever
			kept = append(kept, f)
			hit = &f
		case 1: // now, and no more
			hit = &f
		default:
			f.Nth--
			kept = append(kept, f)
		}
	}
	s.faults = kept
	return hit
}

// answer makes one call, or does not.
func answer[T any](s *Store, method string, call func() (T, error)) (T, error) {
	var none T
	if s.Before != nil {
		s.Before()
	}
	f := s.due(method)
	if f != nil && !f.After {
		return none, f.Err
	}
	v, err := call()
	if f != nil && err == nil {
		return none, f.Err
	}
	return v, err
}

// nothing is answer for calls that only succeed or fail.
func nothing(s *Store, method string, call func() error) error {
	_, err := answer(s, method, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

type found[T any] struct {
	value T
	ok    bool
}

// perhaps is answer for calls that may find nothing.
func perhaps[T any](s *Store, method string, call func() (T, bool, error)) (T, bool, error) {
	f, err := answer(s, method, func() (found[T], error) {
		value, ok, err := call()
		return found[T]{value, ok}, err
	})
	return f.value, f.ok, err
}

var _ store.Store = (*Store)(nil)

// Close closes the wrapped store; it never fails on command.
func (s *Store) Close() error { return s.inner.Close() }

// Commit may fail on command, as may all that follow; see store.Store for them.
func (s *Store) Commit(ctx context.Context, c node.Change) (node.Node, error) {
	return answer(s, "Commit", func() (node.Node, error) { return s.inner.Commit(ctx, c) })
}
