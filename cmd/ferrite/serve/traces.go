package serve

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/extras/signals/traces"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// checkTraces refuses a collector that could not be reached, before anything acts.
func (c *Config) checkTraces() error {
	if c.TracesEndpoint == "" {
		if c.TracesHeaders != "" || c.TracesCA != "" {
			return errors.New("--traces-headers-file and --traces-ca are for --traces-endpoint, which is missing")
		}
		return nil
	}
	_, err := c.tracesTarget()
	return err
}

func (c *Config) tracesTarget() (*traces.Target, error) {
	to, err := traces.NewTarget(c.TracesEndpoint, c.TracesHeaders, c.TracesCA)
	if err != nil {
		return nil, fmt.Errorf("--traces-endpoint %.200q: %w", c.TracesEndpoint, err)
	}
	return to, nil
}

// tracer makes spans of what the engine says; nil without --traces-endpoint.
func (c *Config) tracer(log *slog.Logger) (*traces.Tracer, error) {
	if c.TracesEndpoint == "" {
		return nil, nil
	}
	to, err := c.tracesTarget()
	if err != nil {
		return nil, err
	}
	return traces.New(traces.Config{Target: to, Conductor: c.Host, Version: c.release, Log: log}), nil
}

// tracedBy has a tracer see what passes, too.
func tracedBy(t *traces.Tracer, happened func(string, *engine.BootStage, *agentapi.Progress),
) func(string, *engine.BootStage, *agentapi.Progress) {
	if t == nil {
		return happened
	}
	return func(uuid string, stage *engine.BootStage, progress *agentapi.Progress) {
		happened(uuid, stage, progress)
		if stage != nil {
			t.Staged(uuid, stage.Name, stage.Detail, stage.At)
			return
		}
		t.Progressed(uuid, *progress)
	}
}
