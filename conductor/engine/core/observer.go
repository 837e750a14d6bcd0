package core

import (
	"context"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Observer is told how the work goes, for metrics. Its methods must not wait.
type Observer interface {
	// EffectBegan tells that an effect with this name is being carried out, from the second attempt on as a retry.
	EffectBegan(name string, attempt int)
	// EffectEnded tells how: see the constants.
	EffectEnded(name, outcome string, took time.Duration)
	// Committed tells of a change that the store has taken, or refused by err.
	Committed(took time.Duration, err error)
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
func (noObserver) Committed(time.Duration, error)            {}

// Tracer is told what becomes of nodes, for traces. Its methods must not wait.
type Tracer interface {
	// Decided tells of a change that was committed with ctx since began, and for whom: "" for nobody.
	Decided(ctx context.Context, c *node.Change, saved node.Node, began time.Time, user, project string)
	// Working tells that an effect of n is being carried out with the context that it returns. end is told how that went.
	Working(ctx context.Context, n node.Node, ef node.Effect) (working context.Context, end func(result any, err error))
}

type noTracer struct{}

func (noTracer) Decided(context.Context, *node.Change, node.Node, time.Time, string, string) {}
func (noTracer) Working(ctx context.Context, _ node.Node, _ node.Effect) (context.Context, func(any, error)) {
	return ctx, func(any, error) {}
}
