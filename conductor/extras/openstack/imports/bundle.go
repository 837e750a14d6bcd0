package imports

import (
	"context"
	"maps"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// bundle reads a node with all its records.
func (e *Imports) bundle(ctx context.Context, uuid string) (b node.Bundle, err error) {
	if b.Node, err = e.Store.Node(ctx, uuid); err != nil {
		return b, err
	}
	if b.Node.UUID != uuid { // a name that looks like a UUID
		return b, node.Refuse(node.NotFound, "Node %s could not be found.", uuid)
	}
	if b.Ports, err = e.Store.Ports(ctx, node.PortQuery{NodeUUID: uuid}); err != nil {
		return b, err
	}
	kept := e.Store.Catalogs()
	if b.Portgroups, err = kept.Portgroups.List(ctx, "node_uuid", uuid); err != nil {
		return b, err
	}
	if b.Connectors, err = kept.VolumeConnectors.List(ctx, "node_uuid", uuid); err != nil {
		return b, err
	}
	if b.Targets, err = kept.VolumeTargets.List(ctx, "node_uuid", uuid); err != nil {
		return b, err
	}
	allocations, err := kept.Allocations.List(ctx, "node_uuid", uuid)
	if len(allocations) > 0 {
		b.Allocation = &allocations[0]
	}
	return b, err
}

// cloned is a copy with a node and lists that can be changed.
func cloned(b node.Bundle) node.Bundle {
	b.Node = b.Node.Clone()
	b.Ports, b.Portgroups = slices.Clone(b.Ports), slices.Clone(b.Portgroups)
	b.Connectors, b.Targets = slices.Clone(b.Connectors), slices.Clone(b.Targets)
	if b.Allocation != nil {
		a := *b.Allocation
		b.Allocation = &a
	}
	return b
}

// changeOf is the one change that makes next of was.
func changeOf(was, next node.Bundle) node.Change {
	c := node.Change{Was: &was.Node, Save: &next.Node, DropAllocation: node.Released(was.Node, next.Node)}
	if !same(was.Allocation, next.Allocation) && next.Allocation != nil {
		c.PutAllocation = next.Allocation
	}
	old, now := portsByID(was.Ports), portsByID(next.Ports)
	for _, id := range slices.Sorted(maps.Keys(old)) {
		if _, stays := now[id]; !stays {
			c.DropPorts = append(c.DropPorts, id)
		}
	}
	for _, p := range next.Ports {
		before, had := old[p.UUID]
		switch {
		case !had:
			c.AddPorts = append(c.AddPorts, p)
		case !same(before, p):
			c.SavePorts = append(c.SavePorts, p)
		}
	}
	c.SavePortgroups, c.DropPortgroups = recordsChanged(was.Portgroups, next.Portgroups)
	c.Volumes.Connectors, c.Volumes.DropConnectors = recordsChanged(was.Connectors, next.Connectors)
	c.Volumes.Targets, c.Volumes.DropTargets = recordsChanged(was.Targets, next.Targets)
	return c
}

func portsByID(ports []node.Port) map[string]node.Port {
	all := map[string]node.Port{}
	for _, p := range ports {
		all[p.UUID] = p
	}
	return all
}

// recordsChanged is the records that are new or other than before, and the UUIDs of those that are gone.
func recordsChanged[T any, P node.Recorded[T]](was, next []T) (put []T, drop []string) {
	old := map[string]T{}
	for _, v := range was {
		old[P(&v).Head().UUID] = v
	}
	for _, v := range next {
		id := P(&v).Head().UUID
		if before, had := old[id]; !had || !same(before, v) {
			put = append(put, v)
		}
		delete(old, id)
	}
	return put, slices.Sorted(maps.Keys(old))
}
