package agent

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/agent/screen"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Progress goes to the conductor at most twice a second, and to the log more rarely.
const (
	progressEvery = 500 * time.Millisecond
	logEvery      = 5 * time.Second
)

// Reporter sends progress to the conductor.
type Reporter interface {
	Progress(ctx context.Context, nodeUUID string, p agentapi.Progress) error
}

// progress sends the newest state of a step. The step never waits for it.
type progress struct {
	to    Reporter
	state *state
	board *screen.Board
	log   *slog.Logger

	mu     sync.Mutex
	latest *agentapi.Progress
	logged time.Time
}

func newProgress(to Reporter, s *state, board *screen.Board, log *slog.Logger) *progress {
	return &progress{to: to, state: s, board: board, log: log}
}

// report stores the state of a step. It may be called often.
func (p *progress) report(now agentapi.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.latest = &now
	p.board.Set(func(s *screen.State) {
		s.Doing, s.Stage, s.Done, s.Total = now.Step, now.Stage, now.Done, now.Total
	})
	if time.Since(p.logged) >= logEvery {
		p.logged = time.Now()
		p.log.Info("progress", "step", now.Step, "stage", now.Stage, "done", now.Done, "total", now.Total)
	}
}

// run sends the newest report until ctx ends.
func (p *progress) run(ctx context.Context) {
	t := time.NewTicker(progressEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			p.post(ctx)
		}
	}
}

func (p *progress) post(ctx context.Context) {
	p.mu.Lock()
	now := p.latest
	p.latest = nil
	p.mu.Unlock()
	if now == nil || !p.state.config().FerriteProgress {
		return
	}
	now.AgentToken = p.state.token()
	if err := p.to.Progress(ctx, p.state.uuid(), *now); err != nil && ctx.Err() == nil {
		p.log.Debug("progress not taken", "err", err) // the next report is as good
	}
}
