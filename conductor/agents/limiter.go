package agents

import (
	"net/netip"
	"sync"
	"time"
)

// maxCallers bounds the addresses a limiter remembers.
const maxCallers = 10_000

// limiter counts what callers get wrong: each address has a bucket that holds
// burst failures and is emptied at rate a second.
type limiter struct {
	rate, burst float64
	now         func() time.Time

	mu      sync.Mutex
	buckets map[netip.Addr]bucket
}

// bucket is how full it was at a time.
type bucket struct {
	level float64
	at    time.Time
}

func newLimiter(rate, burst float64, now func() time.Time) *limiter {
	return &limiter{rate: rate, burst: burst, now: now, buckets: map[netip.Addr]bucket{}}
}

// level is how full the bucket is by now.
func (l *limiter) level(from netip.Addr, now time.Time) float64 {
	b, ok := l.buckets[from]
	if !ok {
		return 0
	}
	return max(0, b.level-l.rate*now.Sub(b.at).Seconds())
}

// allowed reports whether a caller may try.
func (l *limiter) allowed(from netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.level(from, l.now()) <= l.burst-1
}

// failed counts one failure.
func (l *limiter) failed(from netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if len(l.buckets) >= maxCallers {
		l.forget(now)
	}
	l.buckets[from] = bucket{min(l.burst, l.level(from, now)+1), now}
}

// forget drops the buckets that have run empty; all of them when none has, so
// that a flood from forged addresses costs no more memory than this.
func (l *limiter) forget(now time.Time) {
	for from := range l.buckets {
		if l.level(from, now) == 0 {
			delete(l.buckets, from)
		}
	}
	if len(l.buckets) >= maxCallers {
		clear(l.buckets)
	}
}
