package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// However many nodes there are and whatever their names, every second of the
// interval has its share of the readings.
func TestTurnsAreSpreadEvenly(t *testing.T) {
	const nodes, every = 10_000, time.Minute
	s, now := newSchedule(8), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for i := range nodes {
		s.note(node.Node{UUID: fmt.Sprintf("%08d-0000-4000-8000-000000000000", i)}, every, now)
	}
	seconds := map[int]int{}
	for range nodes {
		end := now.Add(every)
		r, wait := s.take(end)
		if r.uuid == "" {
			t.Fatalf("a turn is not due within the interval, but after another %s", wait)
		}
		seconds[int((every-r.late-1)/time.Second)]++
		s.done(r, end)
	}
	for second, k := range seconds {
		if share := nodes / 60; k < share-2 || k > share+3 {
			t.Errorf("second %d has %d readings, want about %d", second, k, share)
		}
	}
}

// A save that is noted late does not bring back what a later one has ended.
func TestTurnIsNotedOutOfOrder(t *testing.T) {
	s, now := newSchedule(8), time.Unix(1_000_000, 0)
	note := func(rev int64, every time.Duration) { s.note(node.Node{UUID: "n", Revision: rev}, every, now) }
	note(3, time.Minute)
	note(5, 0)
	note(4, time.Minute)
	if r, _ := s.take(now.Add(time.Hour)); r.uuid != "" {
		t.Errorf("%s is to be read", r.uuid)
	}
	note(6, time.Minute)
	if r, _ := s.take(now.Add(time.Hour)); r.uuid != "n" {
		t.Errorf("%q is to be read, want n", r.uuid)
	}
}
