package serve

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/events"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/nova"
	"github.com/ferrite-metal/ferrite/conductor/outbound"
	"github.com/ferrite-metal/ferrite/conductor/webhooks"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// checkEvents refuses a retention that keeps nothing.
func (c *Config) checkEvents() error {
	if c.EventsKeep < 1 || c.EventsAge < time.Minute {
		return fmt.Errorf("--events-keep %d, --events-age %s: say 1 or more for the first, and 1m or more for the second",
			c.EventsKeep, c.EventsAge)
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

// maxPassing is how many boot stages and reports of progress wait to be sent; more are dropped.
const maxPassing = 256

// changeLog lets clients follow the changes of nodes, and what passes.
type changeLog struct {
	*events.Log
	hooks   *webhooks.Sender
	nova    *nova.Notifier // nil where nobody is told
	nodes   func(ctx context.Context, ref string) (node.Node, error)
	passing chan passing
}

// passing is a boot stage or the progress of a node.
type passing struct {
	node  string
	event nodeapi.Event
}

// changeLog opens the events of a database.
func (c *Config) changeLog(ctx context.Context, db eventStore, log *slog.Logger) (*changeLog, error) {
	hooks, err := c.webhooks(ctx, db, log)
	if err != nil {
		return nil, err
	}
	l, err := events.New(ctx, events.Config{Store: db, Log: log, Keep: c.EventsKeep, Age: c.EventsAge, Conductor: c.Host,
		Needed: hooks.Needed})
	if err != nil {
		return nil, err
	}
	told, err := c.nova(db, log)
	return &changeLog{Log: l, hooks: hooks, nova: told, passing: make(chan passing, maxPassing)}, err
}

// nova tells Nova of power changes; nil where there is none, or it is not to know.
func (c *Config) nova(db nova.Store, log *slog.Logger) (*nova.Notifier, error) {
	if !c.Keystone.TellNova || !slices.Contains(c.Auth, "keystone") {
		return nil, nil
	}
	cloud, err := c.Keystone.client(nil)
	if err != nil {
		return nil, err
	}
	return nova.New(nova.Config{Store: db, Cloud: cloud, Log: log}), nil
}

// eventStore has events, and the places of their readers.
type eventStore interface {
	events.Store
	webhooks.Store
}

// happened takes in a boot stage or progress, for those who follow now.
func (l *changeLog) happened(uuid string, stage *engine.BootStage, progress *agentapi.Progress) {
	if !l.Followed() {
		return
	}
	p := passing{node: uuid, event: nodeapi.Event{Type: "step.progress"}}
	if stage != nil {
		p.event = nodeapi.Event{Type: "boot.stage", Stage: &nodeapi.EventStage{Name: stage.Name, Detail: stage.Detail}}
	} else {
		p.event.Progress = &nodeapi.EventProgress{Step: progress.Step, Stage: progress.Stage, Done: progress.Done,
			Total: progress.Total}
	}
	select {
	case l.passing <- p:
	default: // nobody can follow as fast as that
	}
}

// run sends what passes, and what is committed, until ctx ends.
func (l *changeLog) run(ctx context.Context) {
	var sent sync.WaitGroup
	defer sent.Wait()
	sent.Go(func() { l.Run(ctx) })
	sent.Go(func() { l.hooks.Run(ctx) })
	if l.nova != nil {
		sent.Go(func() { l.nova.Run(ctx) })
	}
	for {
		select {
		case <-ctx.Done():
			return
		case p := <-l.passing:
			if n, err := l.nodes(ctx, p.node); err == nil { // else it is deleted, or the conductor ends
				l.Happened(n, p.event)
			}
		}
	}
}
