package lab

import (
	"context"
	"slices"
	"sync"
)

// maxHistory bounds the entries kept of one source; the oldest goes first.
const maxHistory = 5000

// history remembers things that happened and lets callers wait for one.
type history[T any] struct {
	mu      sync.Mutex
	items   []T
	dropped int
	changed chan struct{} // closed and renewed with every item
}

func newHistory[T any]() *history[T] { return &history[T]{changed: make(chan struct{})} }

func (h *history[T]) add(item T) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.items) >= maxHistory {
		h.items = h.items[1:]
		h.dropped++
	}
	h.items = append(h.items, item)
	close(h.changed)
	h.changed = make(chan struct{})
}

// all is a copy of the entries, oldest first.
func (h *history[T]) all() []T {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.items)
}

// wait returns the first item, past ones included, that match accepts.
func (h *history[T]) wait(ctx context.Context, match func(T) bool) (T, error) {
	next := 0 // counted from the very first item
	for {
		h.mu.Lock()
		fresh := slices.Clone(h.items[max(0, next-h.dropped):])
		next = h.dropped + len(h.items)
		changed := h.changed
		h.mu.Unlock()
		if i := slices.IndexFunc(fresh, match); i >= 0 {
			return fresh[i], nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		}
	}
}
