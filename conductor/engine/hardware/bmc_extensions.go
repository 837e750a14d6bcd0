package hardware

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// find returns a node and an ability of its BMC driver beyond BMC.
func find[T any](ctx context.Context, e *Hardware, ref, kind, what string) (n node.Node, able T, err error) {
	n, bmc, err := e.driver(ctx, ref)
	if err != nil {
		return n, able, err
	}
	able, err = core.Extension[T](n, bmc, kind, what)
	return n, able, err
}

// findFree is find for a node that no effect holds.
func findFree[T any](ctx context.Context, e *Hardware, ref, kind, what string) (n node.Node, able T, err error) {
	if n, err = e.Free(ctx, ref); err != nil {
		return n, able, err
	}
	return find[T](ctx, e, n.UUID, kind, what)
}
