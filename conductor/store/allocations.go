package store

import (
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// allocations is the table of allocations.
const allocations table[node.Allocation, *node.Allocation] = "allocations"

// applyAllocation parts the saved node, if any, from an allocation, and writes
// another.
func (t *tx) applyAllocation(c *node.Change, nodeUUID string) error {
	if c.DropAllocation != "" {
		if err := t.dropAllocation(c.DropAllocation, nodeUUID); err != nil {
			return err
		}
	}
	if c.PutAllocation == nil {
		return nil
	}
	v := *c.PutAllocation
	return allocations.putAt(t, &v)
}

// dropAllocation drops an allocation of a node, or of none for "".
func (t *tx) dropAllocation(uuid, nodeUUID string) error {
	touched, err := t.exec("DELETE FROM allocations WHERE uuid = ? AND coalesce(node_uuid, '') = ?", uuid, nodeUUID)
	if err != nil || touched == 1 {
		return err
	}
	found, err := t.exists("SELECT 1 FROM allocations WHERE uuid = ?", uuid)
	if err != nil || !found {
		return err
	}
	return fmt.Errorf("drop allocation %s of node %q: %w: read it again", uuid, nodeUUID, node.ErrStale)
}
