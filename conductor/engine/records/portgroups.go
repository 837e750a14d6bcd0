package records

import (
	"context"
	"errors"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// portgroups are records that their node's ports are checked against.
type portgroups struct {
	catalog[node.Portgroup, *node.Portgroup]
}

// Create stores a new portgroup of a node that exists.
func (c portgroups) Create(ctx context.Context, g node.Portgroup) (node.Portgroup, error) {
	if err := c.checkAddress(ctx, g); err != nil {
		return g, err
	}
	return refused(c.catalog.Create(ctx, g))
}

// checkAddress refuses the address of another node's port. A bond may have the address of one of its own node's ports.
func (c portgroups) checkAddress(ctx context.Context, g node.Portgroup) error {
	if g.Address == "" {
		return nil
	}
	held, err := c.e.Store.Ports(ctx, node.PortQuery{Address: g.Address})
	if err == nil && len(held) > 0 && held[0].NodeUUID != g.NodeUUID {
		return node.Refuse(node.Conflict, "A port with MAC address %s already exists.", g.Address)
	}
	return err
}

// Update edits a portgroup of a node that is not reserved, and takes its ports
// along into another physical network. Its VIF gets its new address.
func (c portgroups) Update(ctx context.Context, ref string, edit func(*node.Portgroup) error) (node.Portgroup, error) {
	var was string
	g, err := c.change(ctx, ref, func(g *node.Portgroup) error {
		was = g.Address
		return edit(g)
	})
	if err != nil {
		return g, err
	}
	return g, c.e.readdress(ctx, g.NodeUUID, g.VIF(), was, g.Address, func(ctx context.Context) error {
		_, err := c.change(ctx, g.UUID, func(g *node.Portgroup) error {
			g.Address = was
			return nil
		})
		return err
	})
}

// change edits the record of a portgroup.
func (c portgroups) change(ctx context.Context, ref string, edit func(*node.Portgroup) error) (node.Portgroup, error) {
	c.e.wiring.Lock()
	defer c.e.wiring.Unlock()
	return core.Again(func() (node.Portgroup, error) { return c.update(ctx, ref, edit) })
}

// update makes one try: ErrStale when another event was faster.
func (c portgroups) update(ctx context.Context, ref string, edit func(*node.Portgroup) error) (node.Portgroup, error) {
	old, g, err := c.edited(ctx, ref, edit)
	if err != nil {
		return g, err
	}
	if g.Address != old.Address || g.NodeUUID != old.NodeUUID {
		if err := c.checkAddress(ctx, g); err != nil {
			return g, err
		}
	}
	n, err := c.e.freeNamed(ctx, g.NodeUUID)
	if err != nil {
		return g, err
	}
	members, err := c.e.Store.Ports(ctx, node.PortQuery{PortgroupUUID: g.UUID})
	if err != nil {
		return g, err
	}
	if err := node.CheckPortgroup(n, old, node.Bond{Portgroup: g, Members: members}); err != nil {
		return g, err
	}
	if len(members) == 0 || g.PhysicalNetwork == old.PhysicalNetwork {
		return c.Save(ctx, g)
	}
	for i := range members {
		members[i].PhysicalNetwork, members[i].UpdatedAt = g.PhysicalNetwork, g.UpdatedAt
	}
	if _, err := c.e.Commit(ctx,
		node.Change{Save: &n, SavePortgroups: []node.Portgroup{g}, SavePorts: members}); err != nil {
		return g, err
	}
	g.Revision++
	return g, nil
}

// Delete removes a portgroup, by UUID or name, of a node that is not reserved.
func (c portgroups) Delete(ctx context.Context, ref string) error {
	g, err := c.Find(ctx, ref)
	if err != nil {
		return err
	}
	if _, err := c.e.Free(ctx, g.NodeUUID); err != nil {
		return err
	}
	return c.catalog.Delete(ctx, g.UUID)
}

// freeNamed returns the node that a record names and that no effect holds. A missing node is a bad request here: the
// mistake is in the record.
func (e *Records) freeNamed(ctx context.Context, uuid string) (node.Node, error) {
	return refused(e.Free(ctx, uuid))
}

// refused turns node.ErrNotFound into the refusal of a bad request.
func refused[T any](v T, err error) (T, error) {
	if errors.Is(err, node.ErrNotFound) {
		return v, node.Refuse(node.Invalid, "%v", err)
	}
	return v, err
}
