package imagelibrary

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// TestTurns: a project has half of the turns, a fast image keeps its turn, and a slow one loses it to who waits.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s turns
		take := func(owner string) (context.Context, *turn) {
			ctx, mine, err := s.take(t.Context(), slog.New(slog.DiscardHandler), owner, "somebody")
			if (err == nil) != (mine != nil) {
				t.Errorf("turn %v, error %v", mine, err)
			}
			return ctx, mine
		}
		slowest, first := take("blue")
		_, second := take("blue")
		if _, third := take("blue"); third != nil {
			t.Error("a project has more than its share")
		}
		take("")
		take("")
		if _, more := take("red"); more != nil {
			t.Error("more images are taken than may be, and all are new")
		}
		time.Sleep(slowTime)
		for _, fast := range s.taken[1:] {
			fast.got.Store(int64(leastRate * slowTime.Seconds()))
		}
		if _, red := take("red"); red == nil || slowest.Err() == nil || errors.Is(context.Cause(slowest), context.Canceled) {
			t.Errorf("turn %v of who waits; the slow one ends for %v", red, context.Cause(slowest))
		}
		if _, more := take("green"); more != nil {
			t.Error("a fast image lost its turn")
		}
		s.end(first) // it has none any more
		s.end(second)
		if len(s.taken) != 3 {
			t.Errorf("%d turns are taken, expected 3", len(s.taken))
		}
		for _, left := range s.taken {
			left.cancel(nil)
		}
	})
}
