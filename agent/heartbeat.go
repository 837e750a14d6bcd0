package agent

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/ferrite-metal/ferrite/agent/screen"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Beater takes heartbeats.
type Beater interface {
	Heartbeat(ctx context.Context, nodeUUID string, h agentapi.Heartbeat) error
}

// heart tells the conductor that the agent is there: at once, when a command
// has ended, and in between often enough.
type heart struct {
	to     Beater
	state  *state
	board  *screen.Board
	log    *slog.Logger
	forced chan struct{}
}

func newHeart(to Beater, s *state, board *screen.Board, log *slog.Logger) *heart {
	return &heart{to: to, state: s, board: board, log: log, forced: make(chan struct{}, 1)}
}

// force asks for a heartbeat now.
func (h *heart) force() {
	select {
	case h.forced <- struct{}{}:
	default: // one is asked for already
	}
}

// spacing is the least time between two heartbeats: Ironic may still be busy
// with the former. Our own conductor is not disturbed by any.
const spacing = 5 * time.Second

// run beats until ctx ends.
func (h *heart) run(ctx context.Context, d *door) error {
	failures := 0
	for {
		began := time.Now()
		err := h.to.Heartbeat(ctx, h.state.uuid(), agentapi.Heartbeat{
			CallbackURL: d.callback, AgentToken: h.state.token(), AgentVersion: Version, AgentVerifyCA: d.pem,
		})
		wait := h.interval()
		if err != nil {
			failures++
			h.board.Failed(fmt.Errorf("heartbeat not taken: %w", err))
			wait = h.errorPause(failures)
			h.log.Warn("heartbeat not taken", "err", err, "again_in", wait.Round(time.Millisecond))
		} else {
			if failures > 0 {
				h.log.Info("heartbeat taken again", "failures", failures)
				h.board.Set(func(s *screen.State) { s.Err = "" })
			}
			failures = 0
			at := time.Now()
			h.board.Set(func(s *screen.State) { s.Beat = at })
		}
		if err := h.pause(ctx, began, wait, failures > 0); err != nil {
			return err
		}
	}
}

// pause waits for the next heartbeat's time, which forcing may bring forward.
// While the conductor does not answer, forcing changes nothing.
func (h *heart) pause(ctx context.Context, began time.Time, wait time.Duration, failing bool) error {
	t := time.NewTimer(wait)
	defer t.Stop()
	forced := h.forced
	if failing {
		forced = nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	case <-forced:
	}
	if h.state.config().FerriteProgress {
		return nil
	}
	t.Reset(time.Until(began.Add(spacing)))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// interval is 0.3 to 0.6 of the timeout, so that one may be lost and a rack
// does not beat in step.
func (h *heart) interval() time.Duration {
	return time.Duration(float64(h.state.timeout()) * (0.3 + 0.3*rand.Float64()))
}

// errorPause is 5 to 10 seconds; for our own conductor, which is back within
// a second of a crash, it starts lower.
func (h *heart) errorPause(failures int) time.Duration {
	const least, most = 5 * time.Second, 10 * time.Second
	if h.state.config().FerriteProgress {
		return min(time.Second<<min(failures-1, 10), least) + rand.N(time.Second)
	}
	return least + rand.N(most-least)
}
