package core

import (
	"context"
	"errors"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// checkParent refuses a parent that is not there, or that is the node itself or
// below it: a step for the children would wait for itself.
func (e *Core) checkParent(ctx context.Context, n node.Node) error {
	for ref, depth := n.ParentNode, 0; ref != ""; depth++ {
		if ref == n.UUID || depth > maxGenerations {
			return node.Refuse(node.Invalid, "node %s cannot have parent_node %s: it would be its own parent", n.UUID,
				n.ParentNode)
		}
		parent, err := e.Store.Node(ctx, ref)
		if errors.Is(err, node.ErrNotFound) {
			return node.Refuse(node.Invalid, "parent_node %s of node %s could not be found: create the parent first", ref,
				n.UUID)
		}
		if err != nil {
			return err
		}
		ref = parent.ParentNode
	}
	return nil
}

// maxGenerations is how deep children of children can go.
const maxGenerations = 16
