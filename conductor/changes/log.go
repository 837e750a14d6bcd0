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

// maxReports is how many boot stages and reports of progress wait to be sent; more are dropped.
const maxReports = 256

// Config is what a log of changes is made of.
type Config struct {
	Events *events.Log
	Hooks  *webhooks.Sender
	Nova   *nova.Notifier // nil where nobody is told
}

// Log lets clients follow the changes of nodes, and their boot stages and progress.
type Log struct {
	*events.Log
	hooks   *webhooks.Sender
	nova    *nova.Notifier
	nodes   Nodes
	reports chan report
}

// Nodes reads a node.
type Nodes func(ctx context.Context, ref string) (node.Node, error)

// report is a boot stage or the progress of a node.
type report struct {
	node  string
	event nodeapi.Event
}

// New makes a log of changes.
func New(c Config) *Log {
	return &Log{Log: c.Events, hooks: c.Hooks, nova: c.Nova, reports: make(chan report, maxReports)}
}

// SetNodes sets where nodes are read, before Run: an engine is made after its log of changes.
func (l *Log) SetNodes(nodes Nodes) { l.nodes = nodes }

// Report takes in a boot stage or progress, for those who follow now. It never waits.
func (l *Log) Report(uuid string, stage *engine.BootStage, progress *agentapi.Progress) {
	if !l.Followed() {
		return
	}
	r := report{node: uuid, event: nodeapi.Event{Type: "step.progress"}}
	if stage != nil {
		r.event = nodeapi.Event{Type: "boot.stage", Stage: &nodeapi.EventStage{Name: stage.Name, Detail: stage.Detail}}
	} else {
		r.event.Progress = &nodeapi.EventProgress{Step: progress.Step, Stage: progress.Stage, Done: progress.Done,
			Total: progress.Total}
	}
	select {
	case l.reports <- r:
	default: // nobody can follow as fast as that
	}
}

// Run sends reports, and changes that were committed, until ctx ends.
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
		case r := <-l.reports:
			if n, err := l.nodes(ctx, r.node); err == nil { // else it is deleted, or the conductor ends
				l.Happened(n, r.event)
			}
		}
	}
}
