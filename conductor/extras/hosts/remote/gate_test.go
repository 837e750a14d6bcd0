package remote

import (
	"testing"
	"time"
)

// TestGate: a silent leader is asked by one call at a time, each a while after the last failure. A slow probe refuses
// the others only for a while.
func TestGate(t *testing.T) {
	var g gate
	var now, begun time.Time // begun: when the last probe was
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
		{probeTime - 1, func() {}, refused}, // it is under way
		{0, func() { g.failed(now); g.probed(begun) }, refused},
		{tryAgain, func() { g.failed(now) }, refused}, // a call from before
		{tryAgain, func() {}, probe},
		{0, func() { g.probed(begun) }, probe},                             // the last one was given up
		{probeTime, func() {}, probe},                                      // the last one is slow
		{time.Second, func() { g.probed(begun.Add(-probeTime)) }, refused}, // it is not the end of the next probe
		{0, func() { g.answered(); g.probed(begun) }, free},
		{0, func() { g.failed(now) }, refused},
		{0, g.answered, free}, // a call from before
	} {
		now = now.Add(step.after)
		step.event()
		foreseen, got := g.admits(now), g.admit(now)
		if got != step.admits || foreseen != got {
			t.Errorf("step %d: %d, foreseen %d, expected %d", i, got, foreseen, step.admits)
		}
		if got == probe {
			begun = now
		}
	}
}
