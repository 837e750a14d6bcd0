package wait

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
)

// errInterrupted is Ctrl-C.
var errInterrupted = errors.New("interrupted")

// Context ends after a time, and with Ctrl-C. A second Ctrl-C ends the program at once.
func Context(parent context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	timed, cancel := context.WithTimeoutCause(parent, limit, fmt.Errorf("not done after %s", limit))
	ctx, interrupt := context.WithCancelCause(timed)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	go func() {
		select {
		case <-signals:
			interrupt(errInterrupted)
		case <-ctx.Done():
		}
		signal.Stop(signals)
	}()
	return ctx, func() { interrupt(context.Canceled); cancel() }
}

// Stopped is the exit status of a wait that its context has ended.
func Stopped(ctx context.Context) exit.Code {
	if cause := context.Cause(ctx); errors.Is(cause, errInterrupted) || errors.Is(cause, context.Canceled) {
		return exit.Interrupted
	}
	return exit.TimedOut
}
