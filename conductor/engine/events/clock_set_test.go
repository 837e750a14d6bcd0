package events

import (
	"log/slog"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// TestClockSet: the clock was set eight days forward or back while the conductor was away. No event is deleted before
// one full age has passed. Where the newest event is young, age counts.
func TestClockSet(t *testing.T) {
	const days = 8 * 24 * time.Hour
	for _, jump := range []time.Duration{days, -days, 61 * time.Minute, 5 * time.Minute} {
		s := begin(t, mem.New())
		s.tell(t, 1, 5)
		now := time.Now().Add(jump)
		l, err := New(t.Context(), Config{Store: s.store, Log: slog.New(slog.DiscardHandler), Keep: 10, Age: time.Hour,
			Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		again := site{l, s.store}
		l.prune(t.Context())
		if got, _, err := again.types(t, Query{After: "0"}); got != "n.1 n.2 n.3 n.4" || err != nil {
			t.Errorf("a jump of %s: %s, %v", jump, got, err)
		}
		now = now.Add(59 * time.Minute)
		l.prune(t.Context())
		got, _, err := again.types(t, Query{After: "0"})
		if doubted := jump.Abs() > 10*time.Minute; (got != "") != (doubted || jump < 0) || err != nil {
			t.Errorf("a jump of %s and 59 minutes: %s, %v", jump, got, err)
		}
		now = now.Add(2 * time.Minute)
		l.prune(t.Context())
		if got, _, err := again.types(t, Query{After: "0"}); (got != "") != (jump < 0) || err != nil {
			t.Errorf("a jump of %s and an age: %s, %v", jump, got, err)
		}
	}
}
