// Package changes tells of what has changed, and of what passes: those who follow, receivers of webhooks, and Nova.
//
// Changes of nodes and documents are events that were committed (package events). Boot stages and progress pass: those
// who follow at the moment hear of them, and they are kept nowhere. It decides nothing.
package changes

import (
	"context"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/events"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/nova"
	"github.com/ferrite-metal/ferrite/conductor/webhooks"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// maxPassing is how many boot stages and reports of progress wait to be sent; more are dropped.
const maxPassing = 256

// Config is what a log of changes is made of.
type Config struct {
	Events *events.Log
	Hooks  *webhooks.Sender
	Nova   *nova.Notifier // nil where nobody is told
}

// Log lets clients follow the changes of nodes, and what passes.
type Log struct {
	*events.Log
	hooks   *webhooks.Sender
	nova    *nova.Notifier
	nodes   Nodes
	passing chan passing
}

// Nodes reads a node.
type Nodes func(ctx context.Context, ref string) (node.Node, error)

// passing is a boot stage or the progress of a node.
type passing struct {
	node  string
	event nodeapi.Event
}

// New makes a log of changes.
func New(c Config) *Log {
	return &Log{Log: c.Events, hooks: c.Hooks, nova: c.Nova, passing: make(chan passing, maxPassing)}
}

// Of sets whose nodes they are, before Run: an engine is made after those whom it tells.
func (l *Log) Of(nodes Nodes) { l.nodes = nodes }

// Passed takes in a boot stage or progress, for those who follow now.
func (l *Log) Passed(uuid string, stage *engine.BootStage, progress *agentapi.Progress) {
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

// Run sends what passes, and what is committed, until ctx ends.
func (l *Log) Run(ctx context.Context) {
	var sent sync.WaitGroup
	defer sent.Wait()
	sent.Go(func() { l.Log.Run(ctx) })
	sent.Go(func() { l.hooks.Run(ctx) })
	if l.nova != nil {
		sent.Go(func() { l.nova.Run(ctx) })
	}
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
