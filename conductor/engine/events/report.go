package events

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// maxReports is how many boot stages and reports of progress wait to be sent; more are dropped.
const maxReports = 256

// report is a boot stage or the progress of a node.
type report struct {
	node  string
	event nodeapi.Event
}

// Report queues a boot stage or progress for the current followers. It never waits.
func (l *Log) Report(uuid string, stage *core.BootStage, progress *agentapi.Progress) {
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
	default: // followers cannot read as fast as that
	}
}

// sendReports sends reports until ctx ends.
func (l *Log) sendReports(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-l.reports:
			if n, err := l.Node(ctx, r.node); err == nil { // else it is deleted, or the conductor ends
				l.Happened(n, r.event)
			}
		}
	}
}
