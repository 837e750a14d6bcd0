package wait

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
)

// TestCut: a request that Ctrl-C or the time limit cuts off ends with its own exit status, and the command that shows
// whether it was taken.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		limit     time.Duration
		interrupt bool
		code      exit.Code
		text      string
	}{
		{time.Minute, true, exit.Interrupted, "node web: interrupted before the conductor answered"},
		{50 * time.Millisecond, false, exit.TimedOut, "node web: not done after 50ms before the conductor answered"},
	} {
		ctx, cancel := Context(t.Context(), c.limit)
		n := &Followed{Name: "web", Line: &Line{Screen: &Screen{}}}
		err := n.request(ctx, nil, func(ctx context.Context, _ string) error {
			if c.interrupt {
				if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err != nil {
					t.Error(err)
				}
			}
			<-ctx.Done()
			return ctx.Err()
		})
		cancel()
		if exit.Of(err) != c.code || !strings.HasPrefix(err.Error(), c.text) ||
			!strings.HasSuffix(err.Error(), "ferrite node status web") {
			t.Errorf("%d: %v", exit.Of(err), err)
		}
	}
	if exit.Of(errors.New("x")) != exit.Failed || exit.Of(exit.Is(exit.Held, errors.New("x"))) != exit.Held {
		t.Error("errors have other exit statuses")
	}
}
