package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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

// effectTime bounds an effect as long as it holds its worker: its node is locked to everybody, and a renewed lease has
// no end. An effect that has left its worker waits with a bound of its own, such as a person's patience.
const effectTime = 30 * time.Minute

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

// carryOut does what one effect says, with no transaction open and the lease
// renewed, and brings the outcome home. leave gives its worker to another effect,
// for one that only waits from then on. It returns the error of the work.
func (e *Core) carryOut(ctx context.Context, c claimed, leave func()) error {
	ef := c.Effect
	log := e.Log.With("node", ef.Node, "effect", ef.Name, "attempt", ef.Attempt)
	work, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		e.keepLease(work, ef, cancel)
	}()
	late := node.Refuse(node.Conflict, "%s did not end within %s and was given up", ef.Name, effectTime)
	bound := time.AfterFunc(effectTime, func() { cancel(late) })
	defer bound.Stop()
	e.Observer.EffectBegan(ef.Name, ef.Attempt)
	began := time.Now()
	result, err := e.Perform(work, ef, func() { bound.Stop(); leave() })
	took := time.Since(began)
	if err != nil && errors.Is(context.Cause(work), late) {
		err = late
	}
	fenced := errors.Is(context.Cause(work), node.ErrFenced)
	cancel(nil)
	<-renewed

	outcome := EffectDone
	switch {
	case fenced:
		outcome = EffectFenced
		log.Warn("effect was taken over by another conductor; its outcome here is dropped")
	case ctx.Err() != nil:
		outcome = EffectStopped
		e.giveBack(c, ctx.Err(), 0)
	case err != nil && Passing(err) && ef.Attempt < e.tries(ef, err):
		outcome = EffectPassing
		log.Info("effect failed and is tried again", "err", err)
		e.giveBack(c, err, Pause(ef.Attempt))
	default:
		if err != nil {
			outcome = EffectFailed
		}
		e.settle(ctx, c, result, err)
	}
	e.Observer.EffectEnded(ef.Name, outcome, took)
	return err
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

// settle brings the outcome home: the effect's row goes and the node moves,
// in one transaction. When that cannot be written (a full disk), the effect
// stays pending and is asked after again.
func (e *Core) settle(ctx context.Context, c claimed, result any, failure error) {
	ef := c.Effect
	o := plan.Outcome{Effect: ef}
	if failure != nil {
		o.Failure = failure.Error()
		e.Log.Warn("effect failed", "node", ef.Node, "effect", ef.Name, "attempt", ef.Attempt, "err", failure)
	}
	raw, err := json.Marshal(result)
	if err != nil {
		o.Failure = fmt.Sprintf("the result of %s cannot be kept: %v", ef.Name, err)
	}
	o.Result = raw
	_, err = e.decide(ctx, ef.Node, o, &ef)
	if errors.Is(err, node.ErrConflict) && !errors.Is(err, node.ErrFenced) && o.Failure == "" {
		// What was learnt can never be saved: to try again for ever helps nobody.
		o.Failure = fmt.Sprintf("the outcome of %s cannot be saved: %v", ef.Name, err)
		_, err = e.decide(ctx, ef.Node, o, &ef)
	}
	switch {
	case err == nil:
	case errors.Is(err, node.ErrFenced):
		e.Log.Warn("effect was taken over; its outcome here is dropped", "node", ef.Node, "effect", ef.Name)
		e.refresh(ctx, ef.Node)
	default:
		e.Log.Error("outcome not saved; the effect stays pending", "node", ef.Node, "effect", ef.Name, "err", err)
		e.giveBack(c, err, max(2*time.Second, Pause(ef.Attempt)))
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
	case errors.Is(err, node.ErrFenced): // the write whose answer was an error took effect
		e.refresh(ctx, ef.Node)
	default:
		e.Log.Warn("effect not given back; its lease will run out", "node", ef.Node, "effect", ef.Name, "err", err)
	}
}

// refresh reads again what memory holds of a node, after a write that may or
// may not have taken effect: a pending effect remembered wrongly would keep the node's
// heartbeats waiting for ever.
func (e *Core) refresh(ctx context.Context, uuid string) {
	n, err := e.Store.Node(ctx, uuid)
	if errors.Is(err, node.ErrNotFound) {
		e.Memory.forget(uuid)
		for _, f := range e.followers {
			f.Deleted(uuid)
		}
		return
	}
	if err == nil {
		err = e.Remember(ctx, n)
	}
	if err != nil && ctx.Err() == nil {
		e.Log.Warn("node not read again; its next step waits for its deadline", "node", uuid, "err", err)
	}
}

// tries is how often an effect is tried before its failure counts. Somebody
// waits for a verification and can ask again: it is tried twice.
func (e *Core) tries(ef node.Effect, failure error) int {
	var asked struct{ Once bool }
	switch name := ef.Name; {
	case name == "power.request" && json.Unmarshal(ef.Args, &asked) == nil && asked.Once:
		return 1
	case strings.HasSuffix(name, ".validate"):
		return min(2, e.Retries)
	case name == "vendor.call", name == "agent.collect_logs":
		return 1
	case name == "agent.poll":
		return 3 * e.Retries // minutes: a short outage must not end a long write
	case name == "driver.execute_step":
		if patient, said := patience(failure); patient || !said {
			return 3 * e.Retries // a BMC's own restart must not end a step; a refusal (405) may
		}
	case strings.HasPrefix(name, "power."), strings.HasPrefix(name, "management."):
		if patient, _ := patience(failure); patient {
			return 3 * e.Retries // a machine in POST, a BMC that restarts
		}
	}
	return e.Retries
}

// patience reports an error whose cause may last for minutes, and whether its type says so or not.
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
