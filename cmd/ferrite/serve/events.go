package serve

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/events"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// checkEvents refuses a retention that keeps nothing.
func (c *Config) checkEvents() error {
	if c.EventsKeep < 1 || c.EventsAge < time.Minute {
		return fmt.Errorf("--events-keep %d, --events-age %s: say 1 or more for the first, and 1m or more for the second",
			c.EventsKeep, c.EventsAge)
	}
	return nil
}

// maxPassing is how many boot stages and reports of progress wait to be sent; more are dropped.
const maxPassing = 256

// changeLog lets clients follow the changes of nodes, and what passes.
type changeLog struct {
	*events.Log
	nodes   func(ctx context.Context, ref string) (node.Node, error)
	passing chan passing
}

// passing is a boot stage or the progress of a node.
type passing struct {
	node  string
	event nodeapi.Event
}

// changeLog opens the events of a database.
func (c *Config) changeLog(ctx context.Context, db events.Store, log *slog.Logger) (*changeLog, error) {
	l, err := events.New(ctx, events.Config{Store: db, Log: log, Keep: c.EventsKeep, Age: c.EventsAge, Conductor: c.Host})
	return &changeLog{Log: l, passing: make(chan passing, maxPassing)}, err
}

// happened takes in a boot stage or progress, for those who follow now.
func (l *changeLog) happened(uuid string, stage *engine.BootStage, progress *agentapi.Progress) {
	if !l.Followed() {
		return
	}
	p := passing{node: uuid, event: nodeapi.Event{Type: "step.progress"}}
	if stage != nil {
		p.event = nodeapi.Event{Type: "boot.stage", Stage: &nodeapi.EventStage{Name: stage.Name, Detail: stage.Detail}}
	} else {
		p.event.Progress = &nodeapi.EventProgress{Step: progress.Step, Stage: progress.Stage, Done: progress.Done,
			Total: progress.Total}
	}
	select {
	case l.passing <- p:
	default: // nobody can follow as fast as that
	}
}

// run sends what passes, and what is committed, until ctx ends.
func (l *changeLog) run(ctx context.Context) {
	var sent sync.WaitGroup
	defer sent.Wait()
	sent.Go(func() { l.Run(ctx) })
	for {
		select {
		case <-ctx.Done():
			return
		case p := <-l.passing:
			if n, err := l.nodes(ctx, p.node); err == nil { // else it is deleted, or the conductor ends
				l.Happened(n, p.event)
			}
		}
	}
}
