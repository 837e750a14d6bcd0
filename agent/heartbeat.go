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

// HeartbeatSender sends heartbeats to the conductor, one at a time. An error means that the heartbeat was not taken;
// the agent sends another after a pause that grows with each failure.
type HeartbeatSender interface {
	Heartbeat(ctx context.Context, nodeUUID string, h agentapi.Heartbeat) error
}

// heartbeater sends heartbeats: at once, when a command has ended, and several
// times within the conductor's timeout.
type heartbeater struct {
	to     HeartbeatSender
	state  *state
	board  *screen.Board
	log    *slog.Logger
	forced chan struct{}
}

func newHeartbeater(to HeartbeatSender, s *state, board *screen.Board, log *slog.Logger) *heartbeater {
	return &heartbeater{to: to, state: s, board: board, log: log, forced: make(chan struct{}, 1)}
}

// force requests a heartbeat now.
func (h *heartbeater) force() {
	select {
	case h.forced <- struct{}{}:
	default: // already requested
	}
}

// spacing is the least time between two heartbeats, since Ironic may still process
// the first. Our own conductor needs none.
const spacing = 5 * time.Second

// run sends heartbeats until ctx ends.
func (h *heartbeater) run(ctx context.Context, d *commandServer) error {
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
			h.board.Set(func(s *screen.State) { s.Heartbeat = at })
		}
		if err := h.pause(ctx, began, wait, failures > 0); err != nil {
			return err
		}
	}
}

// pause waits for the time of the next heartbeat. force ends the wait early, unless
// the conductor does not answer.
func (h *heartbeater) pause(ctx context.Context, began time.Time, wait time.Duration, failing bool) error {
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

// interval is 0.3 to 0.6 of the timeout: one heartbeat may be lost, and the machines
// of a rack do not send theirs at the same moment.
func (h *heartbeater) interval() time.Duration {
	return time.Duration(float64(h.state.timeout()) * (0.3 + 0.3*rand.Float64()))
}

// errorPause is 5 to 10 seconds. It starts lower for our own conductor, which is
// back within a second of a crash.
func (h *heartbeater) errorPause(failures int) time.Duration {
	const least, most = 5 * time.Second, 10 * time.Second
	if h.state.config().FerriteProgress {
		return min(time.Second<<min(failures-1, 10), least) + rand.N(time.Second)
	}
	return least + rand.N(most-least)
}
