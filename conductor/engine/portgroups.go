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
	return refused(c.catalog.Create(ctx, g))
}

// Update edits a portgroup of a node that is not reserved, and takes its ports
// along into another physical network.
func (c portgroups) Update(ctx context.Context, ref string, edit func(*node.Portgroup) error) (node.Portgroup, error) {
	c.e.wiring.Lock()
	defer c.e.wiring.Unlock()
	var network string // of before
	g, err := c.catalog.Update(ctx, ref, func(g *node.Portgroup) error {
		old := *g
		network = old.PhysicalNetwork
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
		return node.CheckPortgroup(n, old, node.Bond{Portgroup: *g, Members: members})
	})
	if err != nil || g.PhysicalNetwork == network {
		return g, err
	}
	return g, c.e.moveAlong(ctx, g)
}

// moveAlong puts the ports of a portgroup into its physical network.
func (e *Engine) moveAlong(ctx context.Context, g node.Portgroup) error {
	_, err := again(func() (node.Node, error) {
		n, err := e.free(ctx, g.NodeUUID)
		if err != nil {
			return n, err
		}
		ports, err := e.Store.Ports(ctx, node.PortQuery{PortgroupUUID: g.UUID})
		if err != nil || len(ports) == 0 {
			return n, err
		}
		now := e.Now()
		for i := range ports {
			ports[i].PhysicalNetwork, ports[i].UpdatedAt = g.PhysicalNetwork, &now
		}
		return e.commit(ctx, node.Change{Save: &n, PutPorts: ports})
	})
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

// freeNamed is the node that a record of its own names, and that no effect may
// hold: whoever names one that does not exist has made a mistake.
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
