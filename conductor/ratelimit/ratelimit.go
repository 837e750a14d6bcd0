// Package ratelimit counts what callers do too much of, in bounded memory: calls
// that are wrong, bytes that are logged, passwords that do not match.
//
// It turns nobody away by itself, and knows neither requests nor nodes.
package ratelimit

import (
	"sync"
	"time"
)

// maxCallers bounds the callers a limiter remembers.
const maxCallers = 10_000

// Limiter has a bucket for each caller, that holds burst and is emptied at rate
// a second. K is what tells callers apart. It is safe for concurrent use.
type Limiter[K comparable] struct {
	rate, burst float64
	now         func() time.Time

	mu      sync.Mutex
	buckets map[K]bucket
}

// bucket is how full it was at a time.
type bucket struct {
	level float64
	at    time.Time
}

// New makes a limiter; now is its clock.
func New[K comparable](rate, burst float64, now func() time.Time) *Limiter[K] {
	return &Limiter[K]{rate: rate, burst: burst, now: now, buckets: map[K]bucket{}}
}

// level is how full the bucket is by now.
func (l *Limiter[K]) level(from K, now time.Time) float64 {
	b, ok := l.buckets[from]
	if !ok {
		return 0
	}
	return max(0, b.level-l.rate*now.Sub(b.at).Seconds())
}

// Allowed reports whether n more would fit into a caller's bucket.
func (l *Limiter[K]) Allowed(from K, n float64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.level(from, l.now()) <= l.burst-n
}

// Count puts n into a caller's bucket.
func (l *Limiter[K]) Count(from K, n float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if len(l.buckets) >= maxCallers {
		l.forget(now)
	}
	l.buckets[from] = bucket{min(l.burst, l.level(from, now)+n), now}
}

// Callers is how many are remembered.
func (l *Limiter[K]) Callers() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.buckets)
}

// forget drops the buckets that have run empty; all of them when none has, so
// that a flood from forged addresses costs no more memory than this.
func (l *Limiter[K]) forget(now time.Time) {
	for from := range l.buckets {
		if l.level(from, now) == 0 {
			delete(l.buckets, from)
		}
	}
	if len(l.buckets) >= maxCallers {
		clear(l.buckets)
	}
}
