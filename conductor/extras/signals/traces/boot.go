package traces

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// maxEvents bounds the events of one span.
const maxEvents = 64

// stage is how far a machine has come on its way into the ramdisk.
type stage struct {
	name, detail string
	at           time.Time
	parent       trace.SpanID
}

// arrived are the stages in which nothing is waited for any longer.
var arrived = map[string]bool{"heartbeat": true, "inspection data": true}

// Seen takes a boot stage of a node's machine, or the progress of its step.
func (t *Tracer) Seen(uuid string, stage *core.BootStage, progress *agentapi.Progress) {
	if stage != nil {
		t.Staged(uuid, stage.Name, stage.Detail, stage.At)
		return
	}
	t.Progressed(uuid, *progress)
}

// Staged records a boot stage of a node. A stage lasts until the next, or until the activity ends.
func (t *Tracer) Staged(uuid, name, detail string, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.nodes[uuid]
	if a == nil {
		return
	}
	a.endStage(t, at)
	a.stage = &stage{name: name, detail: detail, at: at, parent: a.under()}
	if arrived[name] {
		a.endStage(t, at)
	}
}

// endStage emits the stage that a machine was in.
func (a *activity) endStage(t *Tracer, at time.Time) {
	s := a.stage
	if s == nil {
		return
	}
	a.stage = nil
	a.put(t, span{name: "boot " + s.name, parent: s.parent, began: s.at, ended: at,
		attrs: texts("ferrite.boot.stage", s.name, "ferrite.boot.detail", s.detail)})
}

// Progressed records the progress of a node's step. Each stage of it is an event of the step.
func (t *Tracer) Progressed(uuid string, p agentapi.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.nodes[uuid]
	if a == nil || a.step == nil {
		return
	}
	s := a.step
	s.done, s.total = p.Done, p.Total
	if s.stage == p.Stage && len(s.events) > 0 || len(s.events) == maxEvents {
		return
	}
	s.stage = p.Stage
	s.events = append(s.events, event{name: p.Stage, at: t.now(), attrs: append(texts("ferrite.progress.step", p.Step),
		attribute.Int64("ferrite.progress.total", p.Total))})
}
