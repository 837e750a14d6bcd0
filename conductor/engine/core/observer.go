package core

import "time"

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
