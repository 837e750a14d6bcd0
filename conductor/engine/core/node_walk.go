package core

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// nodeBatch bounds the bytes of nodes that WalkNodes has in memory at a time, but for a single one.
const nodeBatch = 1 << 20

// WalkNodes calls f for the nodes that Nodes returns, a few in memory at a time, until f returns false. A node that is
// deleted meanwhile is skipped, and a later node fills its place: clients take a short page for the last.
func (e *Core) WalkNodes(ctx context.Context, q node.Query, f func(*node.Node) bool) error {
	for {
		all, err := e.Store.NodeSizes(ctx, q)
		if errors.Is(err, node.ErrNotFound) {
			return node.Refuse(node.NotFound, "Node %s could not be found.", q.Marker)
		}
		if err != nil {
			return err
		}
		gone, last, err := e.walk(ctx, all, f)
		if err != nil || gone == 0 || q.Limit == 0 || len(all) < q.Limit {
			return err
		}
		q.Limit = gone
		if last != "" {
			q.Marker = last
		}
	}
}

// walk calls f for nodes until it returns false. gone is how many were deleted, 0 where f returned false; last is the
// last of the others.
func (e *Core) walk(ctx context.Context, all []node.Sized, f func(*node.Node) bool) (gone int, last string, err error) {
	for len(all) > 0 {
		place, bytes := map[string]int{}, 0
		for i, n := range all {
			if i > 0 && bytes+n.Bytes > nodeBatch {
				break
			}
			bytes += n.Bytes
			place[n.UUID] = i
		}
		all = all[len(place):]
		more, err := e.batch(ctx, place, bytes, func(n *node.Node) bool {
			last = n.UUID
			delete(place, n.UUID)
			return f(n)
		})
		if err != nil || !more {
			return 0, "", err
		}
		gone += len(place)
	}
	return gone, last, nil
}

// largeNodes bounds the memory of nodes larger than nodeBatch in all walks together, in bytes. Such a node takes three
// times its stored size: its config drive is in memory as read, unsealed and decoded. The largest node takes the whole
// bound.
const largeNodes = 192 << 20

// batch calls f for nodes of these places, until it returns false.
func (e *Core) batch(ctx context.Context, place map[string]int, bytes int, f func(*node.Node) bool) (bool, error) {
	if bytes > nodeBatch {
		held := min(3*int64(bytes), largeNodes)
		if err := e.large.Acquire(ctx, held); err != nil {
			return false, fmt.Errorf("wait until others have read their large nodes: %w", err)
		}
		defer e.large.Release(held)
	}
	nodes, err := e.Store.Nodes(ctx, node.Query{UUIDs: slices.Collect(maps.Keys(place))})
	if err != nil {
		return false, err
	}
	slices.SortFunc(nodes, func(a, b node.Node) int { return place[a.UUID] - place[b.UUID] })
	for i := range nodes {
		if !f(&nodes[i]) {
			return false, nil
		}
	}
	return true, nil
}
