package engine

import (
	"context"
	"errors"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// portgroups are records that their node's ports are checked against.
type portgroups struct {
	catalog[node.Portgroup, *node.Portgroup]
}

// Create stores a new portgroup of a node that exists.
func (c portgroups) Create(ctx context.Context, g node.Portgroup) (node.Portgroup, error) {
	if _, err := c.e.named(ctx, g.NodeUUID); err != nil {
		return g, err
	}
	return c.catalog.Create(ctx, g)
}

// Update edits a portgroup of a node that is not reserved, and takes its ports
// along into another physical network.
func (c portgroups) Update(ctx context.Context, ref string, edit func(*node.Portgroup) error) (node.Portgroup, error) {
	c.e.wiring.Lock()
	defer c.e.wiring.Unlock()
	return c.catalog.Update(ctx, ref, func(g *node.Portgroup) error {
		old := *g
		if err := edit(g); err != nil {
			return err
		}
		n, err := c.e.freeNamed(ctx, g.NodeUUID)
		if err != nil {
			return err
		}
		members, err := c.e.Store.Ports(ctx, node.PortQuery{PortgroupUUID: old.UUID})
		if err != nil {
			return err
		}
		if err := node.CheckPortgroup(n, old, node.Bond{Portgroup: *g, Members: members}); err != nil {
			return err
		}
		if g.PhysicalNetwork == old.PhysicalNetwork || len(members) == 0 {
			return nil
		}
		return c.e.moveTo(ctx, n, g.PhysicalNetwork, members)
	})
}

// moveTo puts ports of a node into a physical network.
func (e *Engine) moveTo(ctx context.Context, n node.Node, network string, ports []node.Port) error {
	now := e.Now()
	for i := range ports {
		ports[i].PhysicalNetwork, ports[i].UpdatedAt = network, &now
	}
	_, err := e.commit(ctx, node.Change{Save: &n, PutPorts: ports})
	return err
}

// Delete removes a portgroup, by UUID or name, of a node that is not reserved.
func (c portgroups) Delete(ctx context.Context, ref string) error {
	g, err := c.Find(ctx, ref)
	if err != nil {
		return err
	}
	if _, err := c.e.free(ctx, g.NodeUUID); err != nil {
		return err
	}
	return c.catalog.Delete(ctx, g.UUID)
}

// named is the node that a record of its own names: whoever sends one that does
// not exist has made a mistake.
func (e *Engine) named(ctx context.Context, uuid string) (node.Node, error) {
	return refused(e.node(ctx, uuid))
}

// freeNamed is named for a node that no effect may hold.
func (e *Engine) freeNamed(ctx context.Context, uuid string) (node.Node, error) {
	return refused(e.free(ctx, uuid))
}

// refused makes a bad request of what was not found.
func refused[T any](v T, err error) (T, error) {
	if errors.Is(err, node.ErrNotFound) {
		return v, node.Refuse(node.Invalid, "%v", err)
	}
	return v, err
}
