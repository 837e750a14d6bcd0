package core

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// checkInstance refuses an edit that moves a node from one instance to another, or that contradicts the node's
// allocation. An edit that removes the instance removes the allocation, too.
func (e *Core) checkInstance(ctx context.Context, old node.Node, n *node.Node) error {
	switch {
	case old.InstanceUUID != "" && n.InstanceUUID != "" && n.InstanceUUID != old.InstanceUUID:
		return node.Refuse(node.Conflict, "Node %s is associated with instance %s.", n.UUID, old.InstanceUUID)
	case old.AllocationUUID == "":
		return nil
	case n.InstanceUUID == "":
		if !old.Maintenance && !slices.Contains(settled, string(old.ProvisionState)) {
			return node.Refuse(node.Conflict,
				"Node %s with an allocation can not have instance_uuid removed unless it is in one of allowed (%s) states or in "+
					"maintenance mode. Current state is '%s'.", n.UUID, strings.Join(settled, ", "), old.ProvisionState)
		}
		n.AllocationUUID = ""
	}
	if n.Owner == old.Owner {
		return nil
	}
	v, err := e.Store.Catalogs().Allocations.Find(ctx, old.AllocationUUID)
	switch {
	// gone: then the node is not as it was read, and its edit is stale
	case err != nil && !errors.Is(err, node.ErrNotFound):
		return err
	case v.Owner != "":
		return node.Refuse(node.Conflict,
			"Cannot update owner of node \"%s\" while it is allocated to an allocation with an owner.", n.UUID)
	}
	return nil
}

// onlyParted reports whether an edit has done nothing but take the instance away.
func onlyParted(old, n node.Node) bool {
	parted := old.InstanceUUID != "" && n.InstanceUUID == ""
	old.InstanceUUID = ""
	return parted && reflect.DeepEqual(old, n)
}
