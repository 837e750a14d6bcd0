package core

import (
	"context"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/engine/lanes"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Listener is called for every change after it is stored, and for the writes of catalogs. The goroutine that has
// written calls it, so it must not wait. Changes of one node may come in another order than they were stored: the later
// change has the higher Saved.Revision. A node that this process reads without having written it comes as a Committed
// with Read: at the start, and after a write of unknown outcome.
type Listener interface {
	Committed(ctx context.Context, c *node.Committed)
}

// ListenerFunc is a Listener.
type ListenerFunc func(ctx context.Context, c *node.Committed)

// Committed calls f.
func (f ListenerFunc) Committed(ctx context.Context, c *node.Committed) { f(ctx, c) }

// EachNode returns a listener that calls changed with each written node. Of a deleted node only the UUID is set.
func EachNode(changed func(n node.Node)) Listener {
	return ListenerFunc(func(_ context.Context, c *node.Committed) {
		if c.Saved.UUID != "" && !c.Read {
			changed(c.Saved)
		}
	})
}

// ownListeners begin the list. The order of the list:
//
//  1. The trail of the request and the log: the line of a change stands before the lines of its consequences.
//  2. Listen: traces, which must know an activity before its first effect is carried out; indexes and the power
//     schedule; metrics; readers of events.
//  3. Memory: an effect must be known as pending before it can end. A heartbeat that waited for the end of the effect
//     goes on here, beside this goroutine.
//  4. The lanes. From here on the effect may run, end, and lead to the next change.
//  5. ListenLast: hosts, which read memory and the store.
func (e *Core) ownListeners() {
	for _, own := range []ListenerFunc{trace, e.logMoves, e.remember, e.giveTurns} {
		e.listeners = append(e.listeners, own)
	}
	e.listened = 2
}

// Listen adds a listener that is called before a change has any effect. Call it before Run.
func (e *Core) Listen(l Listener) {
	e.listeners = slices.Insert(e.listeners, e.listened, l)
	e.listened++
}

// ListenLast adds a listener that is called after the others, when the change's effects may have begun. Call it before
// Run.
func (e *Core) ListenLast(l Listener) { e.listeners = append(e.listeners, l) }

// Watch adds a receiver of events that are not stored: a boot stage of a node's machine, or the progress of its step.
// seen must not wait. Call Watch before Run.
func (e *Core) Watch(seen func(uuid string, stage *BootStage, progress *agentapi.Progress)) {
	e.watchers = append(e.watchers, seen)
}

// committed calls the listeners in order.
func (e *Core) committed(ctx context.Context, c *node.Committed) {
	for _, l := range e.listeners {
		l.Committed(ctx, c)
	}
}

// logMoves writes one line for each change of state.
func (e *Core) logMoves(_ context.Context, c *node.Committed) {
	for _, m := range c.Moves {
		line := []any{"node", c.Saved.UUID, "name", c.Saved.Name, "from", m.From, "on", m.On, "to", m.To, "why", m.Why}
		if c.User != "" {
			line = append(line, "user", c.User)
		}
		if m.On == node.Fail {
			line = append(line, "reason", c.Saved.LastError)
		}
		e.Log.Info("state", line...)
	}
}

// remember brings memory up to a change.
func (e *Core) remember(_ context.Context, c *node.Committed) {
	if c.Insert != nil {
		e.Memory.forget(c.Saved.UUID) // of a deleted node that had the same UUID
	}
	if c.Delete != "" {
		e.Memory.forget(c.Delete)
	}
	if c.Wrote() {
		e.saved(c.Saved, effectChangeOf(c.Change))
	}
}

// saved notes a node in memory. A heartbeat that waited for the end of its effect goes on.
func (e *Core) saved(n node.Node, d effectChange) {
	if beat := e.Memory.saved(n, d); beat != nil {
		e.later(n.UUID, plan.AgentCalled{Heartbeat: *beat})
	}
}

// giveTurns brings the lanes and the watch of deadlines up to a change.
func (e *Core) giveTurns(_ context.Context, c *node.Committed) {
	if c.Delete != "" {
		e.turns.with(func(l *lanes.Lanes) { l.Drop(c.Delete) })
	}
	if c.Wrote() {
		e.noteDeadline(c.Saved.Deadline)
	}
	if !c.Hurry && len(c.Effects) == 0 {
		return
	}
	e.turns.with(func(l *lanes.Lanes) {
		if c.Hurry {
			l.Hurry(c.Saved.UUID)
		}
		for _, ef := range c.Effects {
			l.Put(workOf(c.Saved, ef))
		}
	})
	Wake(e.wakeRun)
}
