//go:build !nosignals

package serve

import (
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/extras/signals/traces"
	"github.com/ferrite-metal/ferrite/conductor/server/metrics"
)

// traceConfig is the collector of traces.
type traceConfig struct {
	Endpoint string
	Headers  string
	CA       string
}

func (c *traceConfig) settings(s *settings) {
	s.StringVar(&c.Endpoint, "traces-endpoint", "",
		"`URL` of an OpenTelemetry collector (OTLP by HTTP, such as http://127.0.0.1:4318) that gets a trace of each "+
			"activity; without it, none are made")
	s.StringVar(&c.Headers, "traces-headers-file", "",
		"`file` of headers for --traces-endpoint, one a line as \"Name: value\", such as a login's")
	s.StringVar(&c.CA, "traces-ca", "",
		"PEM `file` of authorities for --traces-endpoint (default: this host's)")
}

// check refuses a collector that could not be reached, before anything acts.
func (c *traceConfig) check() error {
	if c.Endpoint == "" {
		if c.Headers != "" || c.CA != "" {
			return errors.New("--traces-headers-file and --traces-ca are for --traces-endpoint, which is missing")
		}
		return nil
	}
	_, err := c.target()
	return err
}

func (c *traceConfig) target() (*traces.Target, error) {
	to, err := traces.NewTarget(c.Endpoint, c.Headers, c.CA)
	if err != nil {
		return nil, fmt.Errorf("--traces-endpoint %.200q: %w", c.Endpoint, err)
	}
	return to, nil
}

// join makes spans of all that the engine reports, with --traces-endpoint.
func (c *traceConfig) join(w *work) error {
	if c.Endpoint == "" {
		return nil
	}
	to, err := c.target()
	if err != nil {
		return err
	}
	t := traces.New(traces.Config{Target: to, Conductor: w.conf.ConductorName, Version: w.conf.release, Log: w.log})
	w.tracer = t
	w.made = append(w.made, func(e *engine.Engine) { e.Listen(t); e.Watch(t.Seen) })
	w.measured = append(w.measured, func(m *metrics.Config) { m.Traces = t.Counts })
	w.served = append(w.served, func(o *api.Options) { o.Follow = t.Follow })
	w.lasting = append(w.lasting, t.Run)
	return nil
}
