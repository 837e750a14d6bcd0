package agent

import (
	"context"
	"log/slog"
	"time"

	"github.com/ferrite-metal/ferrite/agent/logbook"
	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Figures of sending the log: how often, how much at once, and how long to
// wait at most after the conductor did not take it.
const (
	courierEvery  = time.Second
	courierBytes  = 256 << 10
	courierLines  = 5000
	courierPause  = 30 * time.Second
	courierLeaves = 5 * time.Second // for the last of it, when the agent hands over
	courierFlush  = 3 * time.Second // for what a command logged, before the conductor hears that it has ended
)

// LogTaker takes log lines.
type LogTaker interface {
	Log(ctx context.Context, nodeUUID string, l agentapi.LogLines) error
}

// courier carries the log to the conductor. The stream it takes from never
// waits for it.
type courier struct {
	to     LogTaker
	state  *state
	stream *logbook.Stream
	log    *slog.Logger
	turn   chan struct{} // holds one while somebody sends: batches do not overtake each other
}

func newCourier(to LogTaker, s *state, stream *logbook.Stream, log *slog.Logger) *courier {
	return &courier{to: to, state: s, stream: stream, log: log, turn: make(chan struct{}, 1)}
}

// run carries until ctx ends. A conductor that did not ask for the log is not
// bothered, and nothing is kept for it any longer.
func (c *courier) run(ctx context.Context) {
	if !c.state.config().FerriteLog {
		c.stream.Close()
		return
	}
	// The first time at once: the conductor may restart the machine as soon as
	// it has called, and the log of that boot would be lost.
	for pause := courierEvery; ; {
		if err := c.send(ctx); err != nil && ctx.Err() == nil {
			pause = min(2*pause, courierPause)
			c.log.Debug("log not taken", "err", err, "again_in", pause)
		} else {
			pause = courierEvery
		}
		if !sys.Sleep(ctx, pause) {
			return
		}
	}
}

// send carries everything there is now.
func (c *courier) send(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		first, lines := c.stream.Next(courierBytes, courierLines)
		if len(lines) == 0 {
			return nil
		}
		if err := c.to.Log(ctx, c.state.uuid(), agentapi.LogLines{AgentToken: c.state.token(), First: max(first, 0), Lines: lines}); err != nil {
			return err
		}
		c.stream.Taken(first + int64(len(lines)))
	}
}

// flush carries what there is now, unless that takes too long. It goes before the
// news that a command has ended: with that the conductor may cut the power.
func (c *courier) flush(ctx context.Context) { c.hasten(ctx, courierFlush) }

// finish carries what is left, for the last time.
func (c *courier) finish(ctx context.Context) {
	c.hasten(ctx, courierLeaves)
	c.stream.Close()
}

func (c *courier) hasten(ctx context.Context, most time.Duration) {
	if !c.state.config().FerriteLog {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if err := c.send(ctx); err != nil {
		c.log.Debug("log not taken in time", "err", err)
	}
}
