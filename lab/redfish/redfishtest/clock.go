package redfishtest

import (
	"sync"
	"time"
)

// Clock shows the time that a test sets.
type Clock struct {
	mu   sync.Mutex
	now  time.Time
	step time.Duration
}

// NewClock stands at noon of one day.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)} }

// Now is the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(c.step)
	return c.now
}

// SetStep advances the clock by step with every Now, for clients that know no other way than to wait.
func (c *Clock) SetStep(step time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.step = step
}

// Advance moves the clock by d.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
