package serve

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/agents/bootlog"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// takeUp continues with the nodes of the last run, before the API accepts requests for more.
func (w *work) takeUp(ctx context.Context, _ parts) error {
	if err := w.engine.Recover(ctx); err != nil {
		return fmt.Errorf("take up the nodes of the last run: %w", err)
	}
	if err := sweep(ctx, w.engine, w.logs); err != nil {
		return fmt.Errorf("logs of deleted nodes: %w", err)
	}
	return nil
}

// sweep removes the logs of nodes that were deleted while no conductor could remove them.
func sweep(ctx context.Context, eng *engine.Engine, logs *bootlog.Keeper) error {
	nodes, err := logs.Nodes()
	if err != nil {
		return err
	}
	for _, uuid := range nodes {
		_, err := eng.Node(ctx, uuid)
		var refusal *node.Refusal
		if errors.As(err, &refusal) && refusal.Kind == node.NotFound {
			err = logs.Forget(uuid)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
