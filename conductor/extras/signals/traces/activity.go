package traces

import (
	"cmp"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// activity is a node's work: a run, or a chore. The lock of the Tracer is held in all its methods.
type activity struct {
	generation int64  // of the run; 0 for a chore
	name       string // of the run or of the chore's effect
	began      time.Time
	verb       string // the request's, "" for none
	user       string
	project    string
	request    string            // its id
	resumed    bool              // an earlier process has begun it
	link       trace.SpanContext // the activity that it follows
	early      bool              // its effect was carried out before its beginning was reported
	before     *activity         // of an early one

	trace   *traceOf // nil while a chore's effect has not been carried out
	waiting []span   // until the trace is known; spans without a parent are children of the root

	step      *step
	begun     map[string]int // how often steps were begun, by place and name
	stage     *stage
	sent      time.Time // when the command under way was sent to the agent
	answered  time.Time // when the agent had taken it
	lastEnded string    // the last command of the agent with a reported end
}

// of reports whether n is in this activity.
func (a *activity) of(n *node.Node) bool {
	if n.Run != nil {
		return a.generation == n.Run.Generation
	}
	return a.generation == 0 && a.name == n.Chore
}

// begin begins the activity that n is in; nil for none.
func (t *Tracer) begin(n *node.Node, at time.Time) *activity {
	var a *activity
	switch {
	case n.Run != nil:
		ids := runTrace(n)
		a = &activity{generation: n.Run.Generation, name: n.Run.Activity, began: n.Run.Since, trace: &ids}
	case n.Chore != "":
		a = &activity{name: n.Chore, began: at}
	default:
		return nil
	}
	a.begun = map[string]int{}
	t.nodes[n.UUID] = a
	return a
}

// adopt continues with the stored activity of a node. The beginning of its step is not stored. It is taken to be the
// first question about the step, or else the last write of the node.
func (t *Tracer) adopt(n *node.Node) *activity {
	a := t.begin(n, t.now())
	if a == nil {
		return nil
	}
	a.resumed = true
	if n.Run != nil {
		at := n.Run.StepSince
		if at.IsZero() && n.UpdatedAt != nil {
			at = *n.UpdatedAt
		}
		if at.IsZero() {
			at = t.now()
		}
		a.follow(t, n.Run, at)
	}
	return a
}

// put emits a span of the activity, once its trace is known.
func (a *activity) put(t *Tracer, s span) {
	if a.trace == nil {
		if len(a.waiting) < maxEvents {
			a.waiting = append(a.waiting, s)
		}
		return
	}
	if !s.id.IsValid() {
		s.id = newSpanID()
	}
	if !s.parent.IsValid() {
		s.parent = a.trace.root
	}
	t.emit(*a.trace, s)
}

// identify sets the trace.
func (a *activity) identify(t *Tracer, is traceOf) {
	if a.trace != nil {
		return
	}
	a.trace = &is
	for _, s := range a.waiting {
		a.put(t, s)
	}
	a.waiting = nil
}

// under is the parent of a new span: the step, or else the root, which the zero id stands for.
func (a *activity) under() trace.SpanID {
	if a.step == nil {
		return trace.SpanID{}
	}
	return a.step.id
}

// finish ends the activity of n, with a failure unless that is "".
func (t *Tracer) finish(a *activity, n *node.Node, at time.Time, failure string) {
	delete(t.nodes, n.UUID)
	if a.trace == nil {
		a.identify(t, unbegunTrace(n.UUID, a.began))
	}
	a.endStage(t, at)
	a.endStep(t, at, failure)
	attrs := texts("ferrite.node.uuid", n.UUID, "ferrite.node.name", n.Name, "ferrite.node.driver", n.Driver,
		"ferrite.activity", a.name, "ferrite.verb", a.verb, "user.name", a.user, "ferrite.project", a.project,
		"ferrite.request.id", a.request, "ferrite.state", string(n.ProvisionState))
	attrs = append(attrs, attribute.String("ferrite.node.group", clean(n.ConductorGroup, maxValue)),
		attribute.Bool("ferrite.resumed", a.resumed))
	t.emit(*a.trace, span{name: a.name, began: a.began, ended: at, attrs: attrs, link: a.link, failure: failure})
}

// step is a step that is under way.
type step struct {
	node.Step
	index  int
	id     trace.SpanID
	began  time.Time
	stage  string // of the progress
	done   int64
	total  int64
	events []event
}

// follow ends the step under way when the run is at another, and begins that one.
func (a *activity) follow(t *Tracer, r *node.Run, at time.Time) {
	current := r.Current()
	if a.step != nil && current != nil && a.step.index == r.Index && a.step.String() == current.String() {
		return
	}
	a.endStep(t, at, "")
	if current == nil {
		return
	}
	place := strconv.Itoa(r.Index) + " " + current.String()
	a.step = &step{Step: *current, index: r.Index, began: at,
		id: a.trace.stepSpan(r.Index, current.String(), a.begun[place])}
	a.begun[place]++
	a.sent = time.Time{}
}

// endStep emits the step under way.
func (a *activity) endStep(t *Tracer, at time.Time, failure string) {
	s := a.step
	if s == nil {
		return
	}
	a.step = nil
	by := "conductor"
	switch {
	case s.InBand:
		by = "agent"
	case s.Driver:
		by = "bmc"
	case s.OnChildren:
		by = "children"
	}
	attrs := append(texts("ferrite.step", s.String(), "ferrite.step.by", by, "ferrite.step.from", s.From),
		attribute.Int("ferrite.step.index", s.index))
	if s.done > 0 || s.total > 0 {
		attrs = append(attrs, attribute.Int64("ferrite.progress.done", s.done),
			attribute.Int64("ferrite.progress.total", s.total))
	}
	a.put(t, span{name: "step " + cmp.Or(s.String(), "?"), id: s.id, began: s.began, ended: at, attrs: attrs,
		events: s.events, failure: failure})
}
