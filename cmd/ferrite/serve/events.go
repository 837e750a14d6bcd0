package serve

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/engine/events"
	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/nova"
	"github.com/ferrite-metal/ferrite/conductor/extras/signals/webhooks"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound"
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
	if c.WebhookKeep < 1 {
		return fmt.Errorf("--webhook-keep %d: say 1 or more", c.WebhookKeep)
	}
	if _, err := outbound.New("webhook-allow", c.WebhookAllow); err != nil || c.Webhooks == "" {
		return err
	}
	if _, err := webhooks.Read(c.Webhooks); err != nil {
		return fmt.Errorf("--webhooks: %w", err)
	}
	return nil
}

// webhooks sends events to the receivers of a file; without receivers it has nothing to do.
func (c *Config) webhooks(ctx context.Context, db webhooks.Store, log *slog.Logger) (*webhooks.Sender, error) {
	allowed, err := outbound.New("webhook-allow", c.WebhookAllow)
	if err != nil {
		return nil, err
	}
	var hooks []webhooks.Hook
	if c.Webhooks != "" {
		if hooks, err = webhooks.Read(c.Webhooks); err != nil {
			return nil, fmt.Errorf("--webhooks: %w", err)
		}
	}
	s := webhooks.New(webhooks.Config{Hooks: hooks, Store: db, Client: allowed.Client(), Log: log,
		Most: int64(c.WebhookKeep)})
	return s, s.Open(ctx)
}

// openEvents opens the events of a database, for those who follow, receivers of webhooks, and Nova.
func (w *work) openEvents(ctx context.Context, db eventStore, now func() time.Time) error {
	hooks, err := w.conf.webhooks(ctx, db, w.log)
	if err != nil {
		return err
	}
	w.events, err = events.New(ctx, events.Config{Store: db, Log: w.log, Keep: w.conf.EventsKeep, Age: w.conf.EventsAge,
		Conductor: w.conf.Host, Needed: hooks.Needed, Now: now, By: sender,
		Node: func(ctx context.Context, ref string) (node.Node, error) { return w.engine.Node(ctx, ref) }})
	if err != nil {
		return err
	}
	w.told = []func(context.Context){w.events.Run, hooks.Run}
	notifier, err := w.conf.nova(db, now, w.log)
	if err == nil && notifier != nil {
		w.told = append(w.told, notifier.Run)
	}
	return err
}

// sender is the caller of the request that ctx belongs to.
func sender(ctx context.Context) (user, project string) {
	if by := auth.Noted(ctx); by != nil {
		return by.User, by.Project
	}
	return "", ""
}

// nova tells Nova of power changes; nil where there is none, or it is not to know.
func (c *Config) nova(db nova.Store, now func() time.Time, log *slog.Logger) (*nova.Notifier, error) {
	if !c.Keystone.TellNova || !slices.Contains(c.Auth, "keystone") {
		return nil, nil
	}
	cloud, err := c.Keystone.client(nil)
	if err != nil {
		return nil, err
	}
	return nova.New(nova.Config{Store: db, Cloud: cloud, Log: log, Now: now}), nil
}

// eventStore has events, and the places of their readers.
type eventStore interface {
	events.Store
	webhooks.Store
}
