package records

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// CreatePort stores a new port of a node that is not reserved.
func (e *Records) CreatePort(ctx context.Context, p node.Port) (node.Port, error) {
	if p.UUID == "" {
		p.UUID = uuid.NewString()
	}
	p.CreatedAt = e.Now()
	e.wiring.Lock()
	defer e.wiring.Unlock()
	for range core.MaxTries {
		n, err := e.freeNamed(ctx, p.NodeUUID)
		if err != nil {
			return p, err
		}
		err = e.putPort(ctx, n, nil, p)
		if !errors.Is(err, node.ErrStale) {
			return p, err
		}
	}
	return p, e.Locked(p.NodeUUID)
}

// putPort writes a port of n that breaks no rule; old is nil for a new one. It
// raises the node's revision, so that a decision made on the old ports does not
// stand.
func (e *Records) putPort(ctx context.Context, n node.Node, old *node.Port, p node.Port) error {
	bond, err := e.bond(ctx, p.PortgroupUUID)
	if err != nil {
		return err
	}
	if err := node.CheckPort(n, old, p, bond); err != nil {
		return err
	}
	c := node.Change{Save: &n}
	if old == nil {
		c.AddPorts = []node.Port{p}
	} else {
		c.SavePorts = []node.Port{p}
	}
	_, err = e.Commit(ctx, c)
	return err
}

// bond reads a portgroup that a port names, nil for "".
func (e *Records) bond(ctx context.Context, id string) (*node.Bond, error) {
	if id == "" {
		return nil, nil //nolint:nilnil // no portgroup is no mistake
	}
	g, err := refused(e.Store.Catalogs().Portgroups.Find(ctx, id))
	if err != nil {
		return nil, err
	}
	members, err := e.Store.Ports(ctx, node.PortQuery{PortgroupUUID: id})
	return &node.Bond{Portgroup: g, Members: members}, err
}

// Port returns a port by UUID or name.
func (e *Records) Port(ctx context.Context, ref string) (node.Port, error) {
	p, err := e.Store.Port(ctx, ref)
	if errors.Is(err, node.ErrNotFound) {
		return p, node.Refuse(node.NotFound, "Port %s could not be found.", ref)
	}
	return p, err
}

// EachPort calls f for the ports that match, in order of creation, a few in memory at a time, until f returns false.
func (e *Records) EachPort(ctx context.Context, q node.PortQuery, f func(*node.Port) bool) error {
	err := e.Store.EachPort(ctx, q, f)
	if errors.Is(err, node.ErrNotFound) {
		return node.Refuse(node.NotFound, "Port %s could not be found.", q.Marker)
	}
	return err
}

// Ports returns the ports that match, in order of creation.
func (e *Records) Ports(ctx context.Context, q node.PortQuery) ([]node.Port, error) {
	ports, err := e.Store.Ports(ctx, q)
	if errors.Is(err, node.ErrNotFound) {
		return nil, node.Refuse(node.NotFound, "Port %s could not be found.", q.Marker)
	}
	return ports, err
}

// UpdatePort edits a port, by UUID or name, of a node that is not reserved.
// edit may run more than once and may answer a Refusal. The VIF of a port gets its new address.
func (e *Records) UpdatePort(ctx context.Context, ref string, edit func(*node.Port) error) (node.Port, error) {
	var was string
	p, err := e.editPort(ctx, ref, func(p *node.Port) error {
		was = p.Address
		return edit(p)
	})
	if err != nil {
		return p, err
	}
	return p, e.readdress(ctx, p.NodeUUID, p.VIF(), was, p.Address, func(ctx context.Context) error {
		_, err := e.editPort(ctx, p.UUID, func(p *node.Port) error {
			p.Address = was
			return nil
		})
		return err
	})
}

// editPort changes the record of a port.
func (e *Records) editPort(ctx context.Context, ref string, edit func(*node.Port) error) (node.Port, error) {
	e.wiring.Lock()
	defer e.wiring.Unlock()
	for range core.MaxTries {
		p, err := e.updatePort(ctx, ref, edit)
		if !errors.Is(err, node.ErrStale) {
			return p, err
		}
	}
	return node.Port{}, e.Locked(ref)
}

// updatePort makes one try: ErrStale when another event was faster. It reads the node before its port, so that no later
// change of the port goes unseen.
func (e *Records) updatePort(ctx context.Context, ref string, edit func(*node.Port) error) (node.Port, error) {
	p, err := e.Port(ctx, ref)
	if err != nil {
		return p, err
	}
	n, err := e.Free(ctx, p.NodeUUID)
	if err != nil {
		return p, err
	}
	old, err := e.Port(ctx, p.UUID)
	if err != nil {
		return p, err
	}
	p, now := old, e.Now()
	if err := edit(&p); err != nil {
		return p, err
	}
	p.UUID, p.UpdatedAt = old.UUID, &now
	if p.NodeUUID != n.UUID {
		if n, err = e.freeNamed(ctx, p.NodeUUID); err != nil {
			return p, err
		}
	}
	return p, e.putPort(ctx, n, &old, p)
}

// DeletePort removes a port, by UUID or name. It refuses a port that a tenant or a ramdisk uses, unless the node is in
// maintenance.
func (e *Records) DeletePort(ctx context.Context, ref string) error {
	p, err := e.Port(ctx, ref)
	if err != nil {
		return err
	}
	for range core.MaxTries {
		n, err := e.Free(ctx, p.NodeUUID)
		if err != nil {
			return err
		}
		if p, err = e.Port(ctx, p.UUID); err != nil {
			return err
		}
		if vif := p.VIF(); vif != "" && !n.Maintenance {
			return node.Refuse(node.Conflict, "Cannot delete the port %s as it is bound to VIF %s for use.", p.UUID, vif)
		}
		if err := e.leaveByPort(ctx, n, p); err != nil {
			return err
		}
		_, err = e.Commit(ctx, node.Change{Save: &n, DropPorts: []string{p.UUID}})
		if !errors.Is(err, node.ErrStale) {
			return err
		}
	}
	return e.Locked(p.NodeUUID)
}
