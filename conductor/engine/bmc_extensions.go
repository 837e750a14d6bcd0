package engine

import (
	"context"
	"errors"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// find finds a node and what its BMC has beyond BMC.
func find[T any](ctx context.Context, e *Hardware, ref, kind, what string) (n node.Node, able T, err error) {
	n, bmc, err := e.driver(ctx, ref)
	if err != nil {
		return n, able, err
	}
	able, err = extension[T](n, bmc, kind, what)
	return n, able, err
}

// findFree is find for a node that no effect holds.
func findFree[T any](ctx context.Context, e *Hardware, ref, kind, what string) (n node.Node, able T, err error) {
	if n, err = e.free(ctx, ref); err != nil {
		return n, able, err
	}
	return find[T](ctx, e, n.UUID, kind, what)
}

// extension finds what a node's BMC has beyond BMC; kind is the interface that
// must not be switched off, what the name that Ironic has for the ability.
func extension[T any](n node.Node, bmc BMC, kind, what string) (T, error) {
	able, ok := bmc.(T)
	if !ok || n.Idle(kind) {
		return able, node.Unsupported(n, what)
	}
	return able, nil
}

// bmcFault is an error of a BMC as the one who asked is told it. He need not read the log:
// the BMC knows best what is wrong with it.
func bmcFault(err error) error {
	var refusal *node.Refusal
	if err == nil || errors.As(err, &refusal) || errors.Is(err, context.Canceled) {
		return err
	}
	return node.Refuse(node.BMCFailed, "%s", plan.Clip(err.Error()))
}
