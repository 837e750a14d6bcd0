// Package ratelimit counts the excesses of callers in bounded memory: calls that are wrong, bytes that are logged,
// passwords that do not match.
//
// It refuses no caller by itself, and knows neither requests nor nodes.
package ratelimit

import (
	"container/heap"
	"sync"
	"time"
)

// maxCallers bounds the callers a limiter remembers.
const maxCallers = 10_000

// Limiter has a bucket for each caller, that holds burst and is emptied at rate a second. K
// identifies a caller. It is safe for concurrent use.
type Limiter[K comparable] struct {
	rate, burst float64
	now         func() time.Time

	mu      sync.Mutex
	buckets map[K]*bucket[K]
	queue   queue[K] // the buckets; the next to become empty is at the head
}

// New makes a limiter; now is its clock.
func New[K comparable](rate, burst float64, now func() time.Time) *Limiter[K] {
	return &Limiter[K]{rate: rate, burst: burst, now: now, buckets: map[K]*bucket[K]{}}
}

// Allowed reports whether n more would fit into a caller's bucket. Two callers
// that ask at the same time may both be allowed: Take where that matters.
func (l *Limiter[K]) Allowed(from K, n float64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fits(l.level(from, l.now()), n)
}

// Count puts n into a caller's bucket, or as much of it as fits.
func (l *Limiter[K]) Count(from K, n float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.set(from, min(l.burst, l.level(from, now)+n), now)
}

// Take puts n into a caller's bucket if it fits, and reports whether it did. Use it before work with limited failures,
// and Return if the work succeeds. Concurrent calls then cannot all pass before one is counted.
func (l *Limiter[K]) Take(from K, n float64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	level := l.level(from, now)
	if !l.fits(level, n) {
		return false
	}
	l.set(from, level+n, now)
	return true
}

// Return takes n out of a caller's bucket again, as far as it has not run out
// meanwhile.
func (l *Limiter[K]) Return(from K, n float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.set(from, max(0, l.level(from, now)-n), now)
}

// Callers is how many are remembered.
func (l *Limiter[K]) Callers() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.buckets)
}

// fits allows for the rounding of a level to nanoseconds of its time.
func (l *Limiter[K]) fits(level, n float64) bool { return level+n <= l.burst*(1+1e-9) }

// level is how full the bucket is by now.
func (l *Limiter[K]) level(from K, now time.Time) float64 {
	b, ok := l.buckets[from]
	if !ok {
		return 0
	}
	return max(0, l.rate*b.empty.Sub(now).Seconds())
}

// set fills the bucket up to level. When there are too many buckets, it forgets the next one to become empty. A flood
// from forged addresses thus costs bounded memory, and does not clear the bucket of a caller that has failed more
// often.
func (l *Limiter[K]) set(from K, level float64, now time.Time) {
	b, ok := l.buckets[from]
	if !ok {
		if level == 0 {
			return
		}
		l.drain(now)
		b = &bucket[K]{of: from}
		l.buckets[from] = b
		heap.Push(&l.queue, b)
	}
	b.empty = now.Add(time.Duration(level / l.rate * float64(time.Second)))
	heap.Fix(&l.queue, b.at)
}

// drain forgets empty buckets, and makes room for one more.
func (l *Limiter[K]) drain(now time.Time) {
	for len(l.queue) > 0 && (len(l.queue) >= maxCallers || !l.queue[0].empty.After(now)) {
		b, _ := heap.Pop(&l.queue).(*bucket[K])
		delete(l.buckets, b.of)
	}
}
