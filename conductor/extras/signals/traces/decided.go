package traces

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Committed takes a change that was committed with ctx. It continues with the activity of a node that an earlier
// process has begun, and forgets a deleted node.
func (t *Tracer) Committed(ctx context.Context, c *node.Committed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.nodes, c.Delete)
	saved, now, a := c.Saved, t.now(), t.nodes[c.Saved.UUID]
	if c.Read && a == nil {
		t.adopt(&saved)
	}
	if !c.Wrote() {
		return
	}
	if a == nil && c.Was != nil {
		a = t.adopt(c.Was)
	}
	asked := requestOf(ctx)
	d := decision{Committed: c, now: now, asked: asked}
	switch {
	case a != nil && a.early && a.of(&saved) && (c.Was == nil || !a.of(c.Was)):
		t.change(d, a.before, a, &saved)
	case a == nil || !a.of(&saved) || restarts(c.Change):
		t.change(d, a, nil, &saved)
	default:
		a.decisions(t, d, a.under())
		asked.moves(a)
		if saved.Run != nil {
			a.follow(t, saved.Run, now)
		}
	}
}

// decision is a change that was committed.
type decision struct {
	*node.Committed
	now   time.Time
	asked *request // nil for none
}

// change ends one activity and begins another, which is nil where it is not known yet. Each of them may not be.
func (t *Tracer) change(d decision, was, is *activity, saved *node.Node) {
	if was != nil {
		was.decisions(t, d, trace.SpanID{})
		d.asked.moves(was)
		t.finish(was, saved, d.now, was.failure(d.Change))
	}
	if is == nil {
		is = t.begin(saved, d.now)
	}
	if is == nil {
		return
	}
	t.nodes[saved.UUID] = is
	is.user, is.project, is.early, is.before, is.resumed = d.User, d.Project, false, nil, false
	if d.asked != nil {
		is.request, is.began = d.asked.id, d.asked.began
		d.asked.moves(is)
	}
	switch {
	case was != nil:
		is.link = spanContext(was.trace.id, was.trace.root)
	case len(d.Moves) > 0:
		is.verb = string(d.Moves[0].On)
		is.decisions(t, d, trace.SpanID{})
	}
	if saved.Run != nil {
		is.follow(t, saved.Run, d.now)
	}
}

// restarts reports whether a change ends a chore and begins another of the same name.
func restarts(c *node.Change) bool {
	return c.Save != nil && c.Save.Run == nil && c.Finish != nil && len(c.Effects) > 0
}

// failure is why an activity failed, "" when it did not. The chores of the conductor itself fail with a warning.
func (a *activity) failure(c *node.Change) (text string) {
	for _, h := range c.History {
		if h.Severity == "ERROR" || h.Severity == "WARNING" && a.generation == 0 {
			text = h.Event
		}
	}
	for _, m := range c.Moves {
		if text == "" && m.To.Class() == node.Failed {
			text = string(m.To)
		}
	}
	return text
}

// decisions emits the changes of state, as children of the root where there is no parent.
func (a *activity) decisions(t *Tracer, d decision, parent trace.SpanID) {
	for _, m := range d.Moves {
		attrs := texts("ferrite.state.from", string(m.From), "ferrite.state.to", string(m.To), "ferrite.event", string(m.On),
			"ferrite.why", m.Why, "user.name", d.User)
		if d.Was != nil && d.Was.ProvisionState == m.From && d.Was.ProvisionUpdatedAt != nil {
			attrs = append(attrs, attribute.Float64("ferrite.state.seconds", d.now.Sub(*d.Was.ProvisionUpdatedAt).Seconds()))
		}
		a.put(t, span{name: string(m.From) + " -> " + string(m.To), kind: trace.SpanKindInternal, parent: parent,
			began: d.Decided, ended: d.now, attrs: attrs})
	}
}
