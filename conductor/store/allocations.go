package store

import (
	"encoding/json"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// allocations is the catalog of allocations; s may be nil for what is written
// as a part of a change.
func allocations(s *SQLite) catalog[node.Allocation, *node.Allocation] {
	return catalog[node.Allocation, *node.Allocation]{s, "allocations"}
}

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
	v.Revision++
	doc, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode allocation %s: %w", v.UUID, err)
	}
	if v.Revision == 1 {
		return allocations(nil).insert(t, &v, string(doc))
	}
	return allocations(nil).save(t, &v, string(doc))
}

// dropAllocation drops an allocation of a node, or of none for "".
func (t *tx) dropAllocation(uuid, nodeUUID string) error {
	touched, err := t.exec("DELETE FROM allocations WHERE uuid = ? AND IFNULL(node_uuid, '') = ?", uuid, nodeUUID)
	if err != nil || touched == 1 {
		return err
	}
	found, err := t.exists("SELECT 1 FROM allocations WHERE uuid = ?", uuid)
	if err != nil || !found {
		return err
	}
	return fmt.Errorf("drop allocation %s of node %q: %w: read it again", uuid, nodeUUID, node.ErrStale)
}
