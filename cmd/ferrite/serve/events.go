package serve

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/engine/events"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// openEvents opens the events of a database, for callers that follow them, and the readers among the extras.
func (w *work) openEvents(ctx context.Context, p parts) (err error) {
	w.events, err = events.New(ctx, events.Config{Store: p.db, Log: w.log, Keep: w.conf.EventsKeep, Age: w.conf.EventsAge,
		Conductor: w.conf.ConductorName, Needed: w.needed, Now: w.now, By: sender,
		Node: func(ctx context.Context, ref string) (node.Node, error) { return w.engine.Node(ctx, ref) }})
	return err
}

// sender is the caller of the request that ctx belongs to.
func sender(ctx context.Context) (user, project string) {
	if by := auth.Noted(ctx); by != nil {
		return by.User, by.Project
	}
	return "", ""
}
