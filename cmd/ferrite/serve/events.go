package serve

import (
	"context"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/engine/events"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// checkEvents refuses a retention that keeps nothing.
func (c *Config) checkEvents() error {
	if c.EventsKeep < 1 || c.EventsAge < time.Minute {
		return fmt.Errorf("--events-keep %d, --events-age %s: say 1 or more for the first, and 1m or more for the second",
			c.EventsKeep, c.EventsAge)
	}
	if c.AuditKeep != 0 && c.AuditKeep < nodeapi.AuditLeastKept {
		return fmt.Errorf("--audit-keep %s: say 720h or more, since 30 days are always kept, or 0 for ever", c.AuditKeep)
	}
	return nil
}

// openEvents opens the events of a database, for callers that follow them, and the readers among the extras.
func (w *work) openEvents(ctx context.Context, p parts) (err error) {
	w.events, err = events.New(ctx, events.Config{Store: p.db, Log: w.log, Keep: w.conf.EventsKeep, Age: w.conf.EventsAge,
		Conductor: w.conf.Host, Needed: w.needed, Now: w.now, By: sender,
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
