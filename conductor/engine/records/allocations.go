package records

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// allocations is the catalog of allocations. A new allocation gets its node after the answer, by allocate.go. Deleting
// one frees its node.
type allocations struct {
	catalog[node.Allocation, *node.Allocation]
}

// Create stores a request for a node, to be granted later. An allocation that names its node is for a node that was
// deployed without one, and gets it at once.
func (c allocations) Create(ctx context.Context, v node.Allocation) (node.Allocation, error) {
	if v.NodeUUID != "" {
		return c.backfill(ctx, v)
	}
	v.State = node.Allocating
	v, err := c.catalog.Create(ctx, v)
	if err == nil {
		core.Wake(c.e.wakeAllocate)
	}
	return v, err
}

// backfill gives an allocation to a node that is in use already.
func (c allocations) backfill(ctx context.Context, v node.Allocation) (node.Allocation, error) {
	for range core.MaxTries {
		n, err := c.e.Free(ctx, v.NodeUUID)
		if err != nil {
			return v, err
		}
		filled, err := plan.Backfill(v, n)
		if err != nil {
			return v, err
		}
		if filled.UUID == "" {
			filled.UUID = uuid.NewString()
		}
		filled.CreatedAt = c.e.Now()
		filled, n = plan.Assign(filled, n)
		_, err = c.e.Commit(ctx, node.Change{Save: &n, PutAllocation: &filled})
		if !errors.Is(err, node.ErrStale) {
			return filled, err
		}
	}
	return v, c.e.Locked(v.NodeUUID)
}

// Delete drops an allocation and sets its node free.
func (c allocations) Delete(ctx context.Context, ref string) error {
	var v node.Allocation
	for range core.MaxTries {
		var err error
		if v, err = c.Find(ctx, ref); err != nil {
			return err
		}
		err = c.drop(ctx, v)
		if !errors.Is(err, node.ErrStale) && !errors.Is(err, node.ErrNotFound) { // without its node, it is gone too
			return err
		}
	}
	return c.e.Locked(v.NodeUUID)
}

// drop drops an allocation as it was read.
func (c allocations) drop(ctx context.Context, v node.Allocation) error {
	change := node.Change{DropAllocation: v.UUID}
	if v.NodeUUID != "" {
		n, err := c.e.Free(ctx, v.NodeUUID)
		if err != nil {
			return err
		}
		if n.AllocationUUID != v.UUID { // v is gone, and the node has been given to another
			return fmt.Errorf("drop allocation %s of node %s: %w: read it again", v.UUID, n.UUID, node.ErrStale)
		}
		if err := releasable(v, n); err != nil {
			return err
		}
		n.InstanceUUID, n.AllocationUUID = "", ""
		change.Save = &n
	}
	_, err := c.e.Commit(ctx, change)
	return err
}

// releasable refuses to part an allocation from a node that is in use, or on
// its way into use. In maintenance it can always be parted.
func releasable(v node.Allocation, n node.Node) error {
	switch {
	case n.Maintenance:
		return nil
	case n.TargetProvisionState != "" && !core.Updatable[n.ProvisionState]:
		return node.Refuse(node.Conflict,
			"Cannot remove allocation %s for node %s, because the node is in state %s where updates are not allowed (and "+
				"maintenance mode is off)", v.UUID, n.UUID, n.ProvisionState)
	case n.ProvisionState == node.Active:
		return node.Refuse(node.Conflict,
			"Cannot remove allocation %s for node %s, because the node is active (and maintenance mode is off)", v.UUID, n.UUID)
	}
	return nil
}
