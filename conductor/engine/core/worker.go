package core

import (
	"context"
	"errors"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/lanes"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// The lease of an effect: how long a silent conductor keeps it, and how often
// a living one renews it.
const (
	leaseTime  = 30 * time.Second
	renewEvery = 10 * time.Second
	PollEvery  = time.Second // looks for pending effects, should a wake-up be missed
)

// Repeat does something at once, whenever it is woken, and after the time it
// asked for when it was done last, until ctx ends.
func Repeat(ctx context.Context, woken <-chan struct{}, do func(context.Context) time.Duration) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-woken:
		case <-timer.C:
		}
		timer.Reset(do(ctx))
	}
}

// keepLease renews the lease until ctx ends, and cancels the work when the
// effect is no longer ours.
func (e *Core) keepLease(ctx context.Context, ef node.Effect, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := e.Store.Renew(ctx, ef, e.Now().Add(leaseTime))
		if errors.Is(err, node.ErrFenced) {
			cancel(node.ErrFenced)
			return
		}
		if err != nil && ctx.Err() == nil {
			e.Log.Warn("lease not renewed", "node", ef.Node, "effect", ef.Name, "err", err)
		}
	}
}

// giveBack leaves an effect pending, to be claimed again after a while.
func (e *Core) giveBack(c claimed, why error, after time.Duration) {
	ef := c.Effect
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.stop), 2*time.Second)
	defer cancel()
	c.work.Due = e.Now().Add(after)
	err := e.Store.Release(ctx, ef, c.work.Due, plan.Clip(why.Error()))
	switch {
	case err == nil:
		e.turns.with(func(l *lanes.Lanes) { l.Put(c.work) })
		Wake(e.wakeRun)
	case errors.Is(err, node.ErrFenced): // the write took effect although it returned an error
		e.refresh(ctx, ef.Node)
	default:
		e.Log.Warn("effect not given back; its lease will run out", "node", ef.Node, "effect", ef.Name, "err", err)
	}
}

// refresh reads a node again into memory after a write that may or may not have taken effect. A wrongly remembered
// pending effect would keep the node's heartbeats waiting for ever.
func (e *Core) refresh(ctx context.Context, uuid string) {
	n, err := e.Store.Node(ctx, uuid)
	if errors.Is(err, node.ErrNotFound) {
		e.committed(ctx, &node.Committed{Change: &node.Change{Delete: uuid}})
		return
	}
	if err == nil {
		err = e.Remember(ctx, n)
	}
	if err != nil && ctx.Err() == nil {
		e.Log.Warn("node not read again; its next step waits for its deadline", "node", uuid, "err", err)
	}
}

// tries is how often an effect is tried before its failure counts.
func (e *Core) tries(ef node.Effect, failure error) int {
	passing, known := patience(failure)
	return plan.Tries(ef, e.Retries, passing, known)
}

// patience reports whether the cause of an error may last for minutes, and whether the error's type states that.
func patience(err error) (patient, said bool) {
	var p interface{ Patience() bool }
	if !errors.As(err, &p) {
		return false, false
	}
	return p.Patience(), true
}

// Pause grows with every try of an effect, to half a minute.
func Pause(attempt int) time.Duration {
	return min(time.Second<<min(attempt-1, 10), 30*time.Second)
}

// Passing reports whether an error may be gone the next time.
func Passing(err error) bool {
	var p interface{ Permanent() bool }
	var refusal *node.Refusal
	if errors.As(err, &p) && p.Permanent() {
		return false
	}
	return !errors.As(err, &refusal)
}
