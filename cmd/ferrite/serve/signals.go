//go:build !nosignals

package serve

import (
	"context"
	"errors"

	"github.com/spf13/pflag"
)

// signals sends events to receivers, and traces to a collector.
type signals struct {
	plain
	Webhooks webhookConfig `koanf:",squash"`
	Traces   traceConfig   `koanf:",squash"`
}

func newSignals() extra { return &signals{} }

func (s *signals) flags() map[string]func(*pflag.FlagSet) {
	return map[string]func(*pflag.FlagSet){"webhooks": webhookFlags, "traces": traceFlags}
}

func (s *signals) check(*Config) error { return errors.Join(s.Webhooks.check(), s.Traces.check()) }

func (s *signals) join(ctx context.Context, w *work, p parts) error {
	if err := s.Webhooks.join(ctx, w, p); err != nil {
		return err
	}
	return s.Traces.join(w)
}
