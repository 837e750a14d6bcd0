package core

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/lanes"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// listCost is how much longer the store is left alone than the last list of all effects took.
const listCost = 100

// listPage bounds how many nodes are read at a time for a list.
const listPage = 200

// list corrects the contents of the lanes: after a start they are empty, and the lease of an effect may have run out.
func (e *Core) list(ctx context.Context) {
	now := e.Now()
	if since := now.Sub(e.turns.listed); since >= 0 && since < e.turns.pause {
		return
	}
	began := time.Now()
	pending, err := e.Store.Unclaimed(ctx, now)
	if err == nil {
		err = e.putMissing(ctx, pending)
	}
	if err != nil && ctx.Err() == nil {
		e.Log.Error("pending effects cannot be listed; tried again in a second", "err", err)
	}
	e.turns.listed, e.turns.pause = now, max(PollEvery, listCost*time.Since(began))
	e.turns.with(func(l *lanes.Lanes) { l.Sweep(now) })
}

// putMissing puts effects that no lane has.
func (e *Core) putMissing(ctx context.Context, pending []node.Effect) error {
	var missing []node.Effect
	e.turns.with(func(l *lanes.Lanes) {
		for _, ef := range pending {
			if !l.Has(ef.Node, ef.RunAt) {
				missing = append(missing, ef)
			}
		}
	})
	for len(missing) > 0 {
		page := missing[:min(listPage, len(missing))]
		missing = missing[len(page):]
		q := node.Query{WithChildren: true}
		for _, ef := range page {
			q.UUIDs = append(q.UUIDs, ef.Node)
		}
		found, err := e.Store.Nodes(ctx, q)
		if err = e.Readable(err); err != nil {
			return err
		}
		nodes := map[string]node.Node{}
		for _, n := range found {
			nodes[n.UUID] = n
		}
		e.turns.with(func(l *lanes.Lanes) {
			for _, ef := range page { // of a node that cannot be read as well: carrying it out says so
				l.Put(workOf(nodes[ef.Node], ef))
			}
		})
	}
	return nil
}

// PendingEffects is how many effects wait for their turn with this conductor.
func (e *Core) PendingEffects() (n int) {
	e.turns.with(func(l *lanes.Lanes) { n = l.Len() })
	return n
}

// workOf is an effect as far as its turn depends on it.
func workOf(n node.Node, ef node.Effect) lanes.Work {
	kind, _, _ := strings.Cut(ef.Name, ".")
	return lanes.Work{
		Node: ef.Node, Due: ef.RunAt, Project: n.Project(), Kind: kind, Peer: peerOf(n, ef.Name),
		Proven: kind == "agent" || n.ProvisionState != node.Enroll && n.ProvisionState != node.Verifying,
	}
}

// peerOf names the peer that an effect calls: the agent of its node, or the BMC. It names the BMC by its host if it has
// one, because the machines of one chassis share it.
func peerOf(n node.Node, effect string) string {
	switch {
	case strings.HasPrefix(effect, "agent."):
		return "agent of " + n.UUID
	case plan.CallsNoBMC(effect):
		return ""
	}
	return cmp.Or(strings.Join(n.BMCHosts(), " "), "BMC of "+n.UUID)
}

// Called notes how a BMC answered a call that was no effect, a reading of its power for example.
func (e *Core) Called(n node.Node, took time.Duration, err error) {
	grade := lanes.Prompt
	switch {
	case timedOut(err):
		grade = lanes.Silent
	case took > lanes.Patience:
		grade = lanes.Slow
	}
	e.turns.with(func(l *lanes.Lanes) { l.Graded(peerOf(n, ""), grade, e.Now()) })
	Wake(e.wakeRun)
}

// timedOut reports an error of a peer that did not answer in time.
func timedOut(err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.As(err, &t) && t.Timeout()
}
