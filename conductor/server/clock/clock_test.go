package clock

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestJumps: after any change of the system's clock, ours goes on by the time that passes, never back, and follows
// slowly. One line is logged then, and one when both agree again.
func TestJumps(t *testing.T) {
	for _, jump := range []time.Duration{8 * 24 * time.Hour, -8 * 24 * time.Hour, 20 * 365 * 24 * time.Hour, 0} {
		var said bytes.Buffer
		began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		wall, passed := began, time.Duration(0)
		c := newClock(slog.New(slog.NewTextHandler(&said, nil)), func() time.Time { return wall },
			func() time.Duration { return passed })
		pass := func(d time.Duration) { wall, passed = wall.Add(d), passed+d }
		pass(time.Minute)
		if got := c.Now(); !got.Equal(began.Add(time.Minute)) {
			t.Fatalf("the clock shows %s", got)
		}
		wall = wall.Add(jump)
		last := c.Now()
		for range 3600 {
			pass(time.Second)
			now := c.Now()
			if step := now.Sub(last); step < time.Second-time.Second/32 || step > time.Second+time.Second/32 {
				t.Fatalf("after a jump of %s the clock goes by %s in a second", jump, step)
			}
			last = now
		}
		if lines := strings.Count(said.String(), "clock was set"); lines != map[bool]int{true: 1}[jump != 0] {
			t.Errorf("after a jump of %s: %q", jump, said.String())
		}
		wall = last
		c.Now()
		if again := strings.Contains(said.String(), "agrees"); again != (jump != 0) {
			t.Errorf("after a jump of %s there and back: %q", jump, said.String())
		}
	}
}

// TestFollows: a clock that is off by a little is right in the end.
func TestFollows(t *testing.T) {
	wall, passed := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), time.Duration(0)
	c := newClock(slog.New(slog.DiscardHandler), func() time.Time { return wall }, func() time.Duration { return passed })
	wall = wall.Add(-10 * time.Second)
	for range 11 {
		wall, passed = wall.Add(time.Minute), passed+time.Minute
		c.Now()
	}
	if off := wall.Sub(c.Now()); off.Abs() > time.Millisecond {
		t.Errorf("eleven minutes later the clock is off by %s, expected to have followed 10 s", off)
	}
}
