package traces

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/exchange"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Working records that an effect of n is being carried out. Exchanges under the returned context belong to the effect;
// end records its result.
func (t *Tracer) Working(ctx context.Context, n node.Node,
	ef node.Effect) (working context.Context, end func(result any, err error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.nodes[n.UUID]
	if a == nil || !a.of(&n) {
		before := a
		if a = t.adopt(&n); a == nil {
			return ctx, func(any, error) {}
		}
		a.early, a.before = true, before
	}
	a.identify(t, choreTrace(n.UUID, ef.ID)) // a run's trace is known already
	of, began := *a.trace, t.now()
	s := span{name: ef.Name, kind: trace.SpanKindInternal, id: newSpanID(), parent: a.under(), began: began}
	if !s.parent.IsValid() {
		s.parent = of.root
	}
	s.attrs = append(texts("ferrite.effect", ef.Name), attribute.Int("ferrite.attempt", ef.Attempt))
	working = exchange.Watch(ctx, func(e exchange.Exchange) { t.emit(of, exchanged(e, s.id)) })
	return working, func(result any, err error) {
		s.ended, s.failure = t.now(), textOf(err)
		if ctx.Err() != nil && err != nil {
			s.failure = "interrupted: " + s.failure
		}
		t.emit(of, s)
		if r, ok := result.(agentapi.Result); ok && err == nil {
			t.agentSaid(n.UUID, a, r, began)
		}
	}
}

// exchanged is an exchange as a child of its effect.
func exchanged(e exchange.Exchange, parent trace.SpanID) span {
	s := span{name: e.Name, kind: trace.SpanKindClient, id: newSpanID(), parent: parent, began: e.Began, ended: e.Ended,
		failure: textOf(e.Err)}
	switch e.Protocol {
	case exchange.IPMI:
		s.name = "ipmi " + e.Name
	case exchange.Agent:
		s.name = "agent " + e.Name
	}
	s.attrs = texts("ferrite.protocol", e.Protocol, "http.request.method", e.Method, "url.path", e.Path,
		"server.address", e.Server, "ferrite.note", e.Note)
	if e.Protocol == exchange.IPMI {
		s.attrs = append(s.attrs, texts("ferrite.ipmi.command", e.Name)...)
	}
	if e.Status != 0 {
		s.attrs = append(s.attrs, attribute.Int("http.response.status_code", e.Status))
	}
	if e.Status >= 400 && s.failure == "" {
		s.failure = "the answer's status is an error"
	}
	return s
}

// agentSaid records an agent's answer about a command that began at the given time, at the latest.
func (t *Tracer) agentSaid(uuid string, a *activity, r agentapi.Result, began time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.nodes[uuid] != a {
		return
	}
	now := t.now()
	switch {
	case r.Status == agentapi.Running && a.sent.IsZero():
		a.sent, a.answered = began, now
		return
	case r.Status == agentapi.Running || r.ID == a.lastEnded:
		return
	case a.sent.IsZero() && a.resumed && a.step != nil: // an earlier process has sent it
		a.sent, a.answered = a.step.began, now
	case a.sent.IsZero():
		a.sent, a.answered = began, now
	}
	name := r.Name
	if a.step != nil && a.step.InBand {
		name = a.step.String()
	}
	s := span{name: "agent step " + name, kind: trace.SpanKindInternal, parent: a.under(), began: a.sent, ended: now,
		attrs: texts("ferrite.agent.command", r.Name, "ferrite.agent.status", string(r.Status))}
	s.placed(r, a.answered)
	if r.Error != nil {
		s.failure = r.Error.Text()
	}
	a.put(t, s)
	a.lastEnded, a.sent = r.ID, time.Time{}
}

// clockTolerance is how far the clock of an agent may differ from ours, and be right.
const clockTolerance = time.Second

// placed puts a span at the agent's time of its command. The command began between its request and the answer to that.
// If the agent's clock differs, the span is moved, and keeps the agent's duration.
func (s *span) placed(r agentapi.Result, answered time.Time) {
	took := r.Ended.Sub(r.Began)
	if r.Began.IsZero() || r.Ended.IsZero() || took < 0 {
		s.attrs = append(s.attrs, attribute.String("ferrite.clock", "conductor"))
		return
	}
	began := r.Began
	if began.Before(s.began) {
		began = s.began
	}
	if began.After(answered) {
		began = answered
	}
	s.began, s.ended = began, began.Add(min(took, s.ended.Sub(began)))
	if r.Began.Sub(began).Abs() <= clockTolerance {
		s.attrs = append(s.attrs, attribute.String("ferrite.clock", "agent"))
		return
	}
	s.attrs = append(s.attrs, attribute.String("ferrite.clock", "agent, moved"),
		attribute.String("ferrite.agent.began", r.Began.UTC().Format(time.RFC3339Nano)))
}
