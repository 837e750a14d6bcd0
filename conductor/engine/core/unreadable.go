package core

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// setAside is the records that cannot be read, each of which is in the log.
type setAside struct {
	mu       sync.Mutex
	reported map[string]bool
}

// Readable is a list's error without records that cannot be decoded: these are set
// aside with a line in the log, and a loop continues with the others. Elsewhere the
// error counts: a list that is shown must not leave them out in silence.
func (e *Core) Readable(err error) error {
	var bad *node.UnreadableError
	if !errors.As(err, &bad) {
		return err
	}
	e.aside.mu.Lock()
	defer e.aside.mu.Unlock()
	for _, id := range bad.UUIDs {
		if key := bad.Kind + " " + id; !e.aside.reported[key] {
			if e.aside.reported == nil {
				e.aside.reported = map[string]bool{}
			}
			e.aside.reported[key] = true
			e.Log.Error("a record of the database cannot be read; it is left alone until it is repaired", "kind", bad.Kind,
				"uuid", id, "err", bad.Err)
		}
	}
	return nil
}

// EachNode visits the nodes that match, pages of q.Limit at a time.
func (e *Core) EachNode(ctx context.Context, q node.Query, visit func(*node.Node)) error {
	for {
		nodes, err := e.Store.Nodes(ctx, q)
		rows := len(nodes)
		if rows > 0 {
			q.Marker = nodes[rows-1].UUID
		}
		var bad *node.UnreadableError
		if errors.As(err, &bad) {
			rows, q.Marker = rows+len(bad.UUIDs), bad.Last
		}
		if err = e.Readable(err); err != nil {
			return err
		}
		for i := range nodes {
			visit(&nodes[i])
		}
		if rows < q.Limit {
			return nil
		}
	}
}

// undecidableError is of a node that nothing can be decided on, as its row contradicts
// itself: it must not end the conductor of all the others.
type undecidableError struct {
	node  string
	fault any
}

func (e *undecidableError) Error() string {
	return fmt.Sprintf("a fault in this program, or in the row of node %s: %v; please report it with the log",
		e.node, e.fault)
}
