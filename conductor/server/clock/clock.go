// Package clock is the conductor's clock. It goes on by the time that passes, and follows the system's clock slowly, so
// that a system clock that is set, by days or years, ends no wait and no lease.
package clock

import (
	"log/slog"
	"sync"
	"time"
)

const (
	// slew is the part of the time that passes by which the clock follows at most: an hour takes 64 hours.
	slew = 1.0 / 64
	// told is the difference between the clocks from which on a line is logged.
	told = time.Minute
)

// Clock is a clock that never jumps and never goes back. It is safe for concurrent use.
type Clock struct {
	log    *slog.Logger
	wall   func() time.Time     // the system's clock
	passed func() time.Duration // since any moment, by a clock that is never set

	mu    sync.Mutex
	now   time.Time     // at the last reading, without a monotonic reading, as in stored times
	at    time.Duration // of the last reading
	apart bool          // that the clocks differ was said
}

// New makes a clock that shows the system's time.
func New(log *slog.Logger) *Clock {
	began := time.Now()
	return newClock(log, time.Now, func() time.Duration { return time.Since(began) })
}

func newClock(log *slog.Logger, wall func() time.Time, passed func() time.Duration) *Clock {
	return &Clock{log: log, wall: wall, passed: passed, now: wall().Round(0), at: passed()}
}

// Now is the time. Compare it with stored times of this clock, and with its other readings.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.passed()
	step := at - c.at
	c.now, c.at = c.now.Add(step), at
	off := c.wall().Round(0).Sub(c.now)
	most := time.Duration(float64(step) * slew)
	c.now = c.now.Add(min(max(off, -most), most))
	if apart := off.Abs() >= told; apart != c.apart {
		c.apart = apart
		c.say(off)
	}
	return c.now
}

func (c *Clock) say(off time.Duration) {
	if !c.apart {
		c.log.Info("this conductor's clock agrees with the system's again")
		return
	}
	c.log.Warn("the system's clock was set: waits and leases go on by the time that passes, and this conductor's times "+
		"follow slowly; restart it to have them right at once", "off", off.Round(time.Second))
}
