package core

import (
	"context"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Observer counts and times the work, for metrics. Its methods must not wait.
type Observer interface {
	// EffectBegan: an effect with this name is being carried out, from the second attempt on as a retry.
	EffectBegan(name string, attempt int)
	// EffectEnded: its outcome is one of the constants.
	EffectEnded(name, outcome string, took time.Duration)
	// Stored: the store has taken a change, or refused it by err.
	Stored(took time.Duration, err error)
}

// The outcomes of an effect.
const (
	EffectDone    = "done"
	EffectFailed  = "failed"  // for good: the node goes on by that
	EffectPassing = "passing" // it is tried again
	EffectFenced  = "fenced"  // another conductor has taken it over
	EffectStopped = "stopped" // this conductor ends
)

type noObserver struct{}

func (noObserver) EffectBegan(string, int)                   {}
func (noObserver) EffectEnded(string, string, time.Duration) {}
func (noObserver) Stored(time.Duration, error)               {}

// Tracer follows effects, for traces. Its methods must not wait.
type Tracer interface {
	// Working: an effect of n is being carried out with the context that it returns. end takes the outcome.
	Working(ctx context.Context, n node.Node, ef node.Effect) (working context.Context, end func(result any, err error))
}

type noTracer struct{}

func (noTracer) Working(ctx context.Context, _ node.Node, _ node.Effect) (context.Context, func(any, error)) {
	return ctx, func(any, error) {}
}
