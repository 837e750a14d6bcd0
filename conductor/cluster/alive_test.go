package cluster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/store"
)

// stuckRows do not answer from a moment on, and heed no time limit.
type stuckRows struct {
	rowsOf
	stuck, over chan struct{}
}

func (r stuckRows) Look(ctx context.Context) ([]store.Member, []store.Leader, error) {
	select {
	case <-r.stuck:
		<-r.over
	default:
	}
	return r.rowsOf.Look(ctx)
}

// TestAlive: a hanging member is noticed; a member that does not reach its database goes on.
func TestAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := stuckRows{rowsOf{newRows(), "a"}, make(chan struct{}), make(chan struct{})}
		c, err := Join(t.Context(), Config{Rows: r, Log: quiet(), Self: store.Member{Name: "a"},
			Lead: func(ctx context.Context, _ *Term) error { <-ctx.Done(); return nil }})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		alive := func(when string, want bool) {
			t.Helper()
			time.Sleep(time.Minute)
			if err := c.Alive(); (err == nil) != want {
				t.Errorf("%s: %v", when, err)
			}
		}
		alive("at work", true)
		r.set(func() { r.cut["a"] = true })
		alive("without its database", true)
		close(r.stuck)
		r.set(func() { r.cut["a"] = false })
		alive("stuck", false)
		close(r.over)
		alive("at work again", true)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
