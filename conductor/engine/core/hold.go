package core

import (
	"context"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// PowerReading is the latest answer of a BMC while effects are held.
type PowerReading struct {
	Power node.PowerState
	At    time.Time
	Err   string // why it did not say; "" when it did
}

// Hold is the hold that this conductor is under, the zero value for none.
func (e *Core) Hold() node.RestoreHold {
	if h := e.hold.Load(); h != nil {
		return *h
	}
	return node.RestoreHold{}
}

// Held reports whether this conductor acts on no machine.
func (e *Core) Held() bool { return e.hold.Load() != nil }

// loadHold reads the hold from the store, which another conductor may have ended.
func (e *Core) loadHold(ctx context.Context) error {
	h, err := e.Store.Hold(ctx)
	if err != nil {
		return err
	}
	if !h.Held() {
		e.hold.Store(nil)
		return nil
	}
	e.hold.Store(&h)
	return nil
}

// heldStill reads the hold again, and continues with the nodes when it has ended. Where it cannot be read, it holds.
func (e *Core) heldStill(ctx context.Context) bool {
	if !e.Held() {
		return false
	}
	if err := e.loadHold(ctx); err != nil || e.Held() {
		return true
	}
	e.Log.Info("effects are no longer held")
	if err := e.goOn(ctx); err != nil && ctx.Err() == nil {
		e.Log.Error("nodes that wait were not given their time again", "err", err)
	}
	for _, l := range e.listeners {
		if r, ok := l.(interface{ Resumed(ctx context.Context) }); ok {
			r.Resumed(ctx)
		}
	}
	Wake(e.wakeDue)
	close(e.resumed)
	return false
}

// Resume ends the hold. The dispatcher notices it at once.
func (e *Core) Resume(ctx context.Context) error {
	if !e.Held() {
		return nil
	}
	if err := e.Store.SetHold(ctx, node.RestoreHold{}); err != nil {
		return err
	}
	Wake(e.wakeRun)
	select {
	case <-e.resumed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// AwaitResume returns when nothing is held, or ctx has ended.
func (e *Core) AwaitResume(ctx context.Context) {
	if !e.Held() {
		return
	}
	select {
	case <-e.resumed:
	case <-ctx.Done():
	}
}

// Abandon ends the activity of a node, although effects are held: none of its work is carried out later.
func (e *Core) Abandon(ctx context.Context, ref, reason string) error {
	n, err := e.Node(ctx, ref)
	if err != nil {
		return err
	}
	pending, err := e.Store.PendingEffect(ctx, n.UUID)
	if err != nil {
		return err
	}
	_, err = e.Act(ctx, n.UUID, plan.Abandoned{Pending: pending, Reason: reason})
	return err
}

// refuseHeld refuses a change that would act on a machine or move its node to another state. Changes of records alone
// are allowed.
func (e *Core) refuseHeld(ev plan.Event, change *node.Change) error {
	if _, allowed := ev.(plan.Abandoned); allowed || change == nil || !e.Held() {
		return nil
	}
	if len(change.Effects) == 0 && len(change.Moves) == 0 {
		return nil
	}
	return node.Refuse(node.Busy, "This conductor was restored from a backup of %s and acts on no machine yet: see "+
		"it would do with: ferrite server resume --dry-run, and let it go on with: ferrite server resume.",
		e.Hold().Backup.UTC().Format(time.RFC3339))
}
