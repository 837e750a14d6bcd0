//go:build !nosignals

package serve

import (
	"context"
	"errors"
)

// signals sends events to receivers, and traces to a collector.
type signals struct {
	plain
	Webhooks webhookConfig
	Traces   traceConfig
}

func newSignals() extra { return &signals{} }

func (s *signals) settings() map[string]func(*settings) {
	return map[string]func(*settings){"webhooks": s.Webhooks.settings, "traces": s.Traces.settings}
}

func (s *signals) check(*Config) error { return errors.Join(s.Webhooks.check(), s.Traces.check()) }

func (s *signals) join(ctx context.Context, w *work, p parts) error {
	if err := s.Webhooks.join(ctx, w, p); err != nil {
		return err
	}
	return s.Traces.join(w)
}
