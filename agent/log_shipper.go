package agent

import (
	"context"
	"log/slog"
	"time"

	"github.com/ferrite-metal/ferrite/agent/logbook"
	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Limits of sending the log: how often, how much at once, and the longest pause
// after a failure.
const (
	shipEvery = time.Second
	shipBytes = 256 << 10
	shipLines = 5000
	shipPause = 30 * time.Second
	shipLast  = 5 * time.Second // for the last lines, when the agent hands the machine over
	shipFlush = 3 * time.Second // for the log of a command, before the conductor learns that it has ended
)

// LogSender sends log lines to the conductor.
type LogSender interface {
	Log(ctx context.Context, nodeUUID string, l agentapi.LogLines) error
}

// logShipper sends the log to the conductor. The stream never waits for it.
type logShipper struct {
	to     LogSender
	state  *state
	stream *logbook.Stream
	log    *slog.Logger
	turn   chan struct{} // full while a batch is sent: batches do not overtake each other
}

func newLogShipper(to LogSender, s *state, stream *logbook.Stream, log *slog.Logger) *logShipper {
	return &logShipper{to: to, state: s, stream: stream, log: log, turn: make(chan struct{}, 1)}
}

// run sends until ctx ends. It closes the stream at once if the conductor did not
// ask for the log.
func (c *logShipper) run(ctx context.Context) {
	if !c.state.config().FerriteLog {
		c.stream.Close()
		return
	}
	// The first batch goes at once. The conductor may restart the machine after its
	// first call, and the log of that boot would be lost.
	for pause := shipEvery; ; {
		if err := c.send(ctx); err != nil && ctx.Err() == nil {
			pause = min(2*pause, shipPause)
			c.log.Debug("log not taken", "err", err, "again_in", pause)
		} else {
			pause = shipEvery
		}
		if !sys.Sleep(ctx, pause) {
			return
		}
	}
}

// send sends all lines that the stream holds now.
func (c *logShipper) send(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		first, lines := c.stream.Next(shipBytes, shipLines)
		if len(lines) == 0 {
			return nil
		}
		batch := agentapi.LogLines{AgentToken: c.state.token(), First: max(first, 0), Lines: lines}
		if err := c.to.Log(ctx, c.state.uuid(), batch); err != nil {
			return err
		}
		c.stream.Taken(first + int64(len(lines)))
	}
}

// flush sends all lines of now, unless that takes too long. It is called before the
// conductor learns that a command has ended: after that it may cut the power.
func (c *logShipper) flush(ctx context.Context) { c.sendWithin(ctx, shipFlush) }

// finish sends the last lines and closes the stream.
func (c *logShipper) finish(ctx context.Context) {
	c.sendWithin(ctx, shipLast)
	c.stream.Close()
}

// sendWithin sends all lines of now, and gives up after a time.
func (c *logShipper) sendWithin(ctx context.Context, most time.Duration) {
	if !c.state.config().FerriteLog {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if err := c.send(ctx); err != nil {
		c.log.Debug("log not taken in time", "err", err)
	}
}
