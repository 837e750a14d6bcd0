package core

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// The cycle, in this file from left to right:
//
//	event --> facts -----> decision -----> commit --------> effect -----> event
//	Act       facts.go     plan.Decide     committed.go     package jobs  plan.Outcome
//
// An event is refused, or its decision is stored as one change. Listeners hear of the change; one of them puts its
// effect into a lane, which dispatch.go empties. carryOut does the work, and saveOutcome brings the outcome as the next
// event. Edits of operators, which need no decision, come to Commit by themselves.

// MaxTries bounds the races one event may lose against other events of the
// same node.
const MaxTries = 20

// Act applies an event to a node: it gathers the facts, decides, and commits in one transaction. It begins again when
// another event was faster.
func (e *Core) Act(ctx context.Context, ref string, ev plan.Event) (node.Node, error) {
	return e.decide(ctx, ref, ev, nil)
}

// decide is Act, of an outcome with the effect that it ends.
func (e *Core) decide(ctx context.Context, ref string, ev plan.Event, finish *node.Effect) (node.Node, error) {
	var taken *node.MachineTakenError
	for range MaxTries {
		if saved, again, err := e.try(ctx, ref, ev, finish, &taken); !again {
			return saved, err
		}
	}
	return node.Node{}, e.Locked(ref)
}

// try goes from an event to a commit. It reports again when another event was faster, or another node has one of the
// addresses, the name or the machine; taken is that machine.
func (e *Core) try(ctx context.Context, ref string, ev plan.Event, finish *node.Effect,
	taken **node.MachineTakenError) (saved node.Node, again bool, err error) {
	n, err := e.Node(ctx, ref)
	if err == nil {
		err = node.CheckRevision(ctx, &n)
	}
	if err != nil {
		return n, false, err
	}
	need := ev.Needs(n)
	if need.System != "" { // no other look for nodes of one system until the decision is stored
		e.systems.Lock()
		defer e.systems.Unlock()
	}
	facts, err := e.facts(ctx, n, need, finish)
	if err != nil {
		return n, false, err
	}
	facts.MachineTaken = *taken
	change, err := e.decideOnce(ctx, n, facts, ev)
	if err == nil {
		err = e.refuseHeld(ev, change)
	}
	if err != nil || change == nil && finish == nil {
		return n, false, err
	}
	if change == nil {
		change = &node.Change{}
	}
	change.Was = &n
	overtakes := change.Finish != nil
	if finish != nil {
		change.Finish = finish
	}
	saved, err = e.Commit(ctx, *change)
	again = errors.Is(err, node.ErrStale) || overtakes && errors.Is(err, node.ErrFenced) ||
		errors.Is(err, node.ErrConflict) && (len(change.AddPorts) > 0 || renames(n, change) || errors.As(err, taken))
	return saved, again, err
}

// decideOnce asks plan. Only then is it known which name inspection rules give the
// node: where another has it, that is a fact to decide by anew.
func (e *Core) decideOnce(ctx context.Context, n node.Node, facts plan.Facts,
	ev plan.Event) (change *node.Change, err error) {
	defer func() {
		if p := recover(); p != nil {
			e.Log.Error("nothing can be decided on a node", "node", n.UUID, "panic", p, "stack", string(debug.Stack()))
			change, err = nil, &undecidableError{n.UUID, p}
		}
	}()
	change, err = plan.Decide(n, facts, ev, e.Now())
	if err != nil || !renames(n, change) {
		return change, err
	}
	other, err := e.Store.Node(ctx, change.Save.Name)
	if errors.Is(err, node.ErrNotFound) || err == nil && other.UUID == n.UUID {
		return change, nil
	}
	if err != nil {
		return nil, err
	}
	facts.NameTaken = change.Save.Name
	return plan.Decide(n, facts, ev, e.Now())
}

func renames(n node.Node, change *node.Change) bool {
	return change != nil && change.Save != nil && change.Save.Name != "" && change.Save.Name != n.Name
}

// Commit writes a change and calls the listeners.
func (e *Core) Commit(ctx context.Context, c node.Change) (node.Node, error) {
	if err := e.complete(ctx, &c); err != nil {
		return node.Node{}, err
	}
	began, by := time.Now(), userOf(ctx)
	done := node.Committed{Change: &c, Decided: e.Now(), User: by.name, Project: by.project}
	saved, err := e.Store.Commit(ctx, c)
	e.Observer.Stored(time.Since(began), err)
	if err != nil {
		return saved, err
	}
	saved.UUID = cmp.Or(saved.UUID, c.Delete)
	done.Saved = saved
	e.committed(ctx, &done)
	return saved, nil
}

// complete fills in the values that pure code cannot produce (identifiers, users, signatures), and the event of the
// change.
func (e *Core) complete(ctx context.Context, c *node.Change) error {
	c.Events = nil // of a try before
	for i := range c.History {
		by := userOf(ctx)
		c.History[i].UUID, c.History[i].User, c.History[i].Project = uuid.NewString(), by.name, by.project
	}
	for i := range c.AddPorts {
		if c.AddPorts[i].UUID == "" {
			c.AddPorts[i].UUID = uuid.NewString()
		}
	}
	now := e.Now()
	if c.Save != nil {
		c.Save.UpdatedAt = &now
	}
	if a := c.PutAllocation; a != nil && a.Revision > 0 {
		a.UpdatedAt = &now
	}
	if c.PutEraseReport != nil {
		if err := e.signEraseReport(c.PutEraseReport, now); err != nil {
			return err
		}
	}
	if event, ok := e.changeEvent(ctx, c, now); ok {
		c.Events = append(c.Events, event)
	}
	return nil
}

// effectTime bounds an effect as long as it holds its worker: no other request can change its node, and a renewed lease
// has no end. An effect that has left its worker waits with a bound of its own, such as the patience for a person.
const effectTime = 30 * time.Minute

// carryOut performs one effect and saves its outcome. Meanwhile it renews the lease; no transaction is open. leave
// frees the worker for another effect when this one only waits from then on. It returns the error of the work.
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
		e.saveOutcome(ctx, c, result, err)
	}
	e.Observer.EffectEnded(ef.Name, outcome, took)
	return err
}

// saveOutcome saves the outcome of an effect: one transaction deletes the effect's row and moves the node. If that
// cannot be written (a full disk), the effect stays pending and is tried again.
func (e *Core) saveOutcome(ctx context.Context, c claimed, result any, failure error) {
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
		// The result can never be saved, so that more tries cannot help.
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

// later lets an event happen outside the request that brought it.
func (e *Core) later(ref string, ev plan.Event) {
	if e.stop.Err() != nil {
		return // Recover finds the event again
	}
	e.Running.Go(func() {
		if _, err := e.Act(e.stop, ref, ev); err != nil && e.stop.Err() == nil {
			e.Log.Error("event not taken", "node", ref, "event", fmt.Sprintf("%T", ev), "err", err)
		}
	})
}
