package core

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// Recover voids the leases of this conductor's earlier life and gives every
// waiting node its time again. It is called once, before Run and before the
// first request. A conductor that is held continues with none.
func (e *Core) Recover(ctx context.Context) error {
	n, err := e.Store.Takeover(ctx, e.ConductorName(), e.Now())
	if err != nil {
		return err
	}
	if n > 0 {
		e.Log.Info("effects of an earlier process are pending again", "count", n)
	}
	if err := e.loadHold(ctx); err != nil {
		return err
	}
	if h := e.Hold(); h.Held() {
		e.Log.Warn("this database was restored from a backup: nothing is done to any machine until: ferrite server resume",
			"since", h.Since, "backup", h.Backup)
		_, err := e.underWay(ctx)
		return err
	}
	return e.goOn(ctx)
}

// goOn gives every waiting node its full time again, and continues the nodes at work.
func (e *Core) goOn(ctx context.Context) error {
	nodes, err := e.underWay(ctx)
	if err != nil {
		return err
	}
	// Together, because nodes that must be saved then share the disk's flushes.
	restarts, ctx := errgroup.WithContext(ctx)
	restarts.SetLimit(e.Workers)
	for _, uuid := range nodes {
		restarts.Go(func() error {
			var undecidable *undecidableError
			var contradicts *node.InvalidEventError
			_, err := e.Act(ctx, uuid, plan.Restarted{})
			switch {
			case errors.As(err, &undecidable):
				return nil // set aside, with a line in the log
			case errors.As(err, &contradicts):
				e.Log.Error("a node does not go on: its row contradicts itself; the others do", "node", uuid, "err", err)
				return nil
			}
			return err
		})
	}
	return restarts.Wait()
}

// underWay notes in memory the nodes that are at work or wait, before any of them goes on. It returns the nodes that a
// restart changes. One query reads which nodes have a pending effect: most of them need no further read.
func (e *Core) underWay(ctx context.Context) (restarts []string, err error) {
	uuids, err := e.Store.NodesWithEffects(ctx)
	if err != nil {
		return nil, err
	}
	busy := make(map[string]bool, len(uuids))
	for _, uuid := range uuids {
		busy[uuid] = true
	}
	for state, info := range node.States {
		if info.Class != node.Working && info.Class != node.Waiting {
			continue
		}
		nodes, err := e.Store.Nodes(ctx, node.Query{ProvisionState: &state, ConductorGroup: e.Group, WithChildren: true})
		if err = e.Readable(err); err != nil {
			return nil, err
		}
		for _, n := range nodes {
			e.rememberAs(ctx, n, busy[n.UUID])
			if plan.Restarts(n, busy[n.UUID]) {
				restarts = append(restarts, n.UUID)
			}
		}
	}
	return restarts, nil
}

// Remember fills memory with a node that this process has not saved yet.
func (e *Core) Remember(ctx context.Context, n node.Node) error {
	pending, err := e.Store.PendingEffect(ctx, n.UUID)
	if err != nil {
		return fmt.Errorf("effects of node %s: %w", n.UUID, err)
	}
	e.rememberAs(ctx, n, pending != nil)
	return nil
}

// rememberAs is remember, of a node of which it is known whether it has a pending effect.
func (e *Core) rememberAs(ctx context.Context, n node.Node, busy bool) {
	e.committed(ctx, &node.Committed{Change: &node.Change{}, Saved: n, Read: true})
	d := effectEnded
	if busy {
		d = effectAdded
	}
	e.saved(n, d)
}
