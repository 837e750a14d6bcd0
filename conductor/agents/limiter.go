package agents

import (
	"sync"
	"time"
)

// maxCallers bounds the callers a limiter remembers.
const maxCallers = 10_000

// limiter counts what callers do too much of: each has a bucket that holds
// burst and is emptied at rate a second. K is what tells callers apart.
type limiter[K comparable] struct {
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

func newLimiter[K comparable](rate, burst float64, now func() time.Time) *limiter[K] {
	return &limiter[K]{rate: rate, burst: burst, now: now, buckets: map[K]bucket{}}
}

// level is how full the bucket is by now.
func (l *limiter[K]) level(from K, now time.Time) float64 {
	b, ok := l.buckets[from]
	if !ok {
		return 0
	}
	return max(0, b.level-l.rate*now.Sub(b.at).Seconds())
}

// allowed reports whether n more would fit into a caller's bucket.
func (l *limiter[K]) allowed(from K, n float64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.level(from, l.now()) <= l.burst-n
}

// count puts n into a caller's bucket.
func (l *limiter[K]) count(from K, n float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if len(l.buckets) >= maxCallers {
		l.forget(now)
	}
	l.buckets[from] = bucket{min(l.burst, l.level(from, now)+n), now}
}

// forget drops the buckets that have run empty; all of them when none has, so
// that a flood from forged addresses costs no more memory than this.
func (l *limiter[K]) forget(now time.Time) {
	for from := range l.buckets {
		if l.level(from, now) == 0 {
			delete(l.buckets, from)
		}
	}
	if len(l.buckets) >= maxCallers {
		clear(l.buckets)
	}
}
