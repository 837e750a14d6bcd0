package remote

import (
	"testing"
	"time"
)

// TestGate: a silent leader is asked by one call at a time, each a while after the last one that was not answered.
func TestGate(t *testing.T) {
	var g gate
	var now time.Time
	for i, step := range []struct {
		after  time.Duration
		event  func()
		admits admission // of the call that follows
	}{
		{0, func() {}, free},
		{0, func() {}, free},
		{0, func() { g.failed(now) }, refused},
		{tryAgain - 1, func() {}, refused},
		{1, func() {}, probe},
		{time.Hour, func() {}, refused}, // it is under way
		{0, func() { g.failed(now); g.probed() }, refused},
		{tryAgain, func() { g.failed(now) }, refused}, // a call from before
		{tryAgain, func() {}, probe},
		{0, g.probed, probe}, // the last one was given up
		{0, func() { g.answered(); g.probed() }, free},
		{0, func() { g.failed(now) }, refused},
		{0, g.answered, free}, // a call from before
	} {
		now = now.Add(step.after)
		step.event()
		if foreseen, got := g.admits(now), g.admit(now); got != step.admits || foreseen != got {
			t.Errorf("step %d: %d, foreseen %d, expected %d", i, got, foreseen, step.admits)
		}
	}
}
