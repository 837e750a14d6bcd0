package core

import (
	"context"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/lanes"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// claimBatch is how many effects are claimed in one transaction.
const claimBatch = 64

// claimed is an effect that this conductor has claimed.
type claimed struct {
	node.Effect
	work lanes.Work
}

// turns holds the pending work of this conductor. The store holds the same work: turns can be lost or wrong, and the
// next list corrects it.
type turns struct {
	mu     sync.Mutex
	lanes  *lanes.Lanes
	listed time.Time     // when the store was last asked for all pending effects
	pause  time.Duration // until it is asked again
}

// with does something with the lanes.
func (t *turns) with(do func(l *lanes.Lanes)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	do(t.lanes)
}

// dispatch claims pending effects in their turns and carries them out, until ctx ends.
func (e *Core) dispatch(ctx context.Context) {
	Repeat(ctx, e.wakeRun, func(ctx context.Context) time.Duration {
		if e.heldStill(ctx) {
			return PollEvery
		}
		e.list(ctx)
		if !e.claim(ctx) {
			return PollEvery
		}
		wait := PollEvery
		e.turns.with(func(l *lanes.Lanes) {
			if at, ok := l.NextDue(); ok {
				wait = min(wait, max(at.Sub(e.Now()), time.Millisecond))
			}
		})
		return wait
	})
}

// claim begins all work that is due and has its turn. It reports false when the store failed.
func (e *Core) claim(ctx context.Context) bool {
	for ctx.Err() == nil {
		var due []*lanes.Turn
		e.turns.with(func(l *lanes.Lanes) {
			for len(due) < claimBatch {
				t, ok := l.Take(e.Now())
				if !ok {
					break
				}
				due = append(due, t)
			}
		})
		if len(due) == 0 {
			break
		}
		if err := e.begin(ctx, due); err != nil {
			if ctx.Err() == nil {
				e.Log.Error("pending effects cannot be claimed; tried again in a second", "err", err)
			}
			return false
		}
	}
	return true
}

// begin claims the effects of these turns and begins them. If the claim does not return an effect, it is no longer
// pending or belongs to another conductor: begin forgets it.
func (e *Core) begin(ctx context.Context, due []*lanes.Turn) error {
	var uuids []string
	for _, t := range due {
		uuids = append(uuids, t.Node)
	}
	effects, err := e.Store.Claim(ctx, e.ConductorName(), e.Now(), leaseTime, uuids)
	if err != nil {
		e.turns.with(func(l *lanes.Lanes) {
			for _, t := range due {
				t.Leave()
				l.Put(t.Work)
			}
		})
		return err
	}
	claimed := make(map[string]node.Effect, len(effects))
	for _, ef := range effects {
		claimed[ef.Node] = ef
	}
	for _, t := range due {
		ef, ok := claimed[t.Node]
		if !ok {
			e.turns.with(func(*lanes.Lanes) { t.Leave() })
			continue
		}
		e.Running.Go(func() { e.takeTurn(ctx, t, ef) })
	}
	return nil
}

// takeTurn carries an effect out. It has its worker until it ends, leaves, or has taken too long.
func (e *Core) takeTurn(ctx context.Context, t *lanes.Turn, ef node.Effect) {
	leave := func() { e.turns.with(func(*lanes.Lanes) { t.Leave() }); Wake(e.wakeRun) }
	patience := time.AfterFunc(lanes.Patience, func() {
		e.turns.with(func(*lanes.Lanes) { t.Linger(e.Now()) })
		Wake(e.wakeRun)
	})
	err := e.carryOut(ctx, claimed{ef, t.Work}, leave)
	patience.Stop()
	e.turns.with(func(*lanes.Lanes) {
		if ctx.Err() != nil { // the end of the conductor says nothing about a BMC
			t.Leave()
			return
		}
		t.End(e.Now(), timedOut(err))
	})
	Wake(e.wakeRun)
}
