package powersync

import (
	"fmt"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestTurnsAreSpreadEvenly: every second of the interval has its share of the readings, for any number and names of
// nodes.
func TestTurnsAreSpreadEvenly(t *testing.T) {
	const nodes, every = 10_000, time.Minute
	s, now := newSchedule(8), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for i := range nodes {
		s.note(node.Node{UUID: fmt.Sprintf("%08d-0000-4000-8000-000000000000", i)}, every, now)
	}
	seconds := map[int]int{}
	due, wait := s.take(now.Add(every), nodes)
	if len(due) != nodes {
		t.Fatalf("%d turns are not due within the interval, but after another %s", nodes-len(due), wait)
	}
	for _, r := range due {
		seconds[int((every-r.late-1)/time.Second)]++
	}
	for second, k := range seconds {
		if share := nodes / 60; k < share-2 || k > share+3 {
			t.Errorf("second %d has %d readings, want about %d", second, k, share)
		}
	}
}

// TestTurnIsNotedOutOfOrder: a save that is noted late does not restore a turn that a later save has ended.
func TestTurnIsNotedOutOfOrder(t *testing.T) {
	s, now := newSchedule(8), time.Unix(1_000_000, 0)
	note := func(rev int64, every time.Duration) { s.note(node.Node{UUID: "n", Revision: rev}, every, now) }
	note(3, time.Minute)
	note(5, 0)
	note(4, time.Minute)
	if due, _ := s.take(now.Add(time.Hour), 9); len(due) != 0 {
		t.Errorf("%+v are to be read, want nothing", due)
	}
	note(6, time.Minute)
	if due, _ := s.take(now.Add(time.Hour), 9); len(due) != 1 || due[0].uuid != "n" {
		t.Errorf("%+v are to be read, want n", due)
	}
}
