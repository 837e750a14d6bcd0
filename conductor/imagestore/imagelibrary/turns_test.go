package imagelibrary

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestTurns: a project has half of the turns, a fast image keeps its turn, and a slow one loses it to a waiting image.
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
			fast.rate(int64(leastRate * slowTime.Seconds()))
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

// TestWhoGivesWay: of the slow images one of the project that has most gives way, there the slowest of the last half
// minute; the first of a project does not, to the second of another.
func TestWhoGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s turns
		take := func(owner string, burst int64) *turn {
			_, mine, err := s.take(t.Context(), slog.New(slog.DiscardHandler), owner, "somebody")
			if err == nil {
				mine.rate(burst)
				t.Cleanup(func() { s.end(mine) })
			}
			return mine
		}
		system, red := take("", 0), take("red", 0)
		blue, other := take("blue", 10<<30), take("blue", 0)
		for range 2 * int(slowTime.Seconds()) {
			time.Sleep(time.Second)
			for i, t := range []*turn{system, red, blue, other} {
				t.rate(int64(i+1) * 1000)
			}
		}
		for i, c := range []struct {
			owner string
			goes  *turn
		}{{"green", blue}, {"red", red}, {"green", nil}, {"yellow", system}} {
			before := slices.Clone(s.taken)
			take(c.owner, 0)
			gone := slices.DeleteFunc(before, func(t *turn) bool { return slices.Contains(s.taken, t) })
			if want := []*turn{c.goes}; c.goes == nil && len(gone) > 0 || c.goes != nil && !slices.Equal(gone, want) {
				t.Errorf("%d: %d turns end for one of %s", i, len(gone), c.owner)
			}
		}
	})
}
