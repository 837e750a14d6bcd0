//go:build !nosignals

package serve

import (
	"context"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/extras/signals/webhooks"
	"github.com/ferrite-metal/ferrite/conductor/outbound"
)

// webhookConfig is the receivers of events.
type webhookConfig struct {
	File  string
	Allow []string
	Keep  int
}

func (c *webhookConfig) settings(s *settings) {
	s.StringVar(&c.File, "webhooks", "", "YAML `file` of receivers that events are sent to; see docs/operate/webhooks.md")
	s.StringSliceVar(&c.Allow, "webhook-allow", nil,
		"`networks` (10.0.0.1/32) whose receivers may be loopback, link-local, multicast or this host's own addresses")
	s.intVar(&c.Keep, "webhook-keep", 1_000_000, "number of events that are kept for a receiver that does not take them",
		atLeast(1, ": say 1 or more"))
}

// check refuses receivers that could not be reached.
func (c *webhookConfig) check() error {
	if _, err := outbound.New("webhook-allow", c.Allow); err != nil {
		return err
	}
	_, err := c.receivers()
	return err
}

func (c *webhookConfig) receivers() ([]webhooks.Hook, error) {
	if c.File == "" {
		return nil, nil
	}
	hooks, err := webhooks.Read(c.File)
	if err != nil {
		return nil, fmt.Errorf("--webhooks: %w", err)
	}
	return hooks, nil
}

// join sends the events of all groups to the receivers of the file, from the leader of the default group.
func (c *webhookConfig) join(ctx context.Context, w *work, p parts) error {
	if !w.first {
		return nil
	}
	allowed, err := outbound.New("webhook-allow", c.Allow)
	if err != nil {
		return err
	}
	hooks, err := c.receivers()
	if err != nil {
		return err
	}
	s := webhooks.New(webhooks.Config{Hooks: hooks, Store: p.db, Client: allowed.Client(), Log: w.log,
		Most: int64(c.Keep)})
	w.readers = append(w.readers, reader{run: s.Run, needed: s.Needed})
	return s.Open(ctx)
}
