package core

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// HeldNode is a node with findings after a restore.
type HeldNode struct {
	Node     node.Node
	Effect   string // the effect that would be carried out first; "" for none
	Reading  PowerReading
	Findings []plan.Finding
}

// HoldReport lists for each node the consequences of ending the hold. unread counts nodes without a power reading yet.
func (e *Core) HoldReport(ctx context.Context) (all []HeldNode, unread int, err error) {
	busy, err := e.Store.NodesWithEffects(ctx)
	if err != nil {
		return nil, 0, err
	}
	effects := map[string]string{}
	for _, uuid := range busy {
		pending, err := e.Store.PendingEffect(ctx, uuid)
		if err != nil {
			return nil, 0, err
		}
		if pending != nil {
			effects[uuid] = pending.Name
		}
	}
	err = e.EachNode(ctx, node.Query{WithChildren: true, Limit: listPage}, func(n *node.Node) {
		r, known := e.PowerNow(n.UUID)
		if !known && plan.PowerPollHeld(*n, e.Settings) > 0 {
			unread++
		}
		found := plan.AfterRestore(*n, effects[n.UUID], r.Power, r.Err)
		if len(found) > 0 {
			all = append(all, HeldNode{Node: n.Clone(), Effect: effects[n.UUID], Reading: r, Findings: found})
		}
	})
	return all, unread, err
}
