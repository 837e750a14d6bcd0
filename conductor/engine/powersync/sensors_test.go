package powersync

import (
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestSensorsDue: once an interval, and never with none.
func TestSensorsDue(t *testing.T) {
	s := newSchedule(4)
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	s.note(node.Node{UUID: "n1"}, time.Minute, now)
	for i, want := range []bool{true, false, false, true} {
		if got := s.sensorsDue("n1", 2*time.Minute, now.Add(time.Duration(i)*40*time.Second)); got != want {
			t.Errorf("after %d s: %t", 40*i, got)
		}
	}
	if s.sensorsDue("n1", 0, now.Add(time.Hour)) || s.sensorsDue("n2", time.Minute, now) {
		t.Error("an interval of 0, or a node without a turn, is due")
	}
}
