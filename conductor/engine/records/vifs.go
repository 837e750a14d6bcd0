package records

import (
	"context"
	"errors"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// VIFs lists the virtual interfaces that are attached to a node, those of its
// ports first. A node whose network interface is noop has none.
func (e *Records) VIFs(ctx context.Context, ref string) ([]string, error) {
	n, err := e.Node(ctx, ref)
	if err != nil || !n.Networked() {
		return nil, err
	}
	ports, groups, err := e.plugs(ctx, n.UUID)
	if err != nil {
		return nil, err
	}
	var vifs []string
	for i := range ports {
		vifs = append(vifs, ports[i].VIF())
	}
	for i := range groups {
		vifs = append(vifs, groups[i].VIF())
	}
	return slices.DeleteFunc(vifs, func(id string) bool { return id == "" }), nil
}

// plugs is all of a node that a virtual interface could be attached to.
func (e *Records) plugs(ctx context.Context, uuid string) ([]node.Port, []node.Portgroup, error) {
	ports, err := e.Store.Ports(ctx, node.PortQuery{NodeUUID: uuid})
	if err != nil {
		return nil, nil, err
	}
	groups, err := e.Store.Catalogs().Portgroups.List(ctx, "node_uuid", uuid)
	return ports, groups, err
}

// AttachVIF attaches a virtual interface to a free port or portgroup of a node
// that is not reserved. noop takes any, and keeps none.
func (e *Records) AttachVIF(ctx context.Context, ref string, v node.VIF) error {
	return e.rewire(ctx, ref,
		func(ports []node.Port, groups []node.Portgroup, n node.Node) (*node.Port, *node.Portgroup, error) {
			var err error
			if v.Physical, err = e.physical(ctx, n, v.ID, ports); err != nil {
				return nil, nil, err
			}
			port, group, err := node.PlaceVIF(v, ports, groups)
			if port != nil {
				port.SetVIF(v.ID)
			}
			if group != nil {
				group.SetVIF(v.ID)
			}
			if err == nil && e.Neutron(n) {
				err = unplugged(e.Networks.Plug(ctx, n, v.ID, ports, groups))
			}
			return port, group, err
		})
}

// Neutron reports whether Neutron is told of a node's VIFs.
func (e *Records) Neutron(n node.Node) bool { return plan.Neutron(n) && e.Networks != nil }

// physical are the physical networks that a VIF can be in, where any port says in which it is.
func (e *Records) physical(ctx context.Context, n node.Node, vif string, ports []node.Port) ([]string, error) {
	if !e.Neutron(n) || !slices.ContainsFunc(ports, func(p node.Port) bool { return p.PhysicalNetwork != "" }) {
		return nil, nil
	}
	names, err := e.Networks.PhysicalNetworks(ctx, vif)
	return names, unplugged(err)
}

// unplugged is an error of Neutron's for whoever asked.
func unplugged(err error) error {
	var lasting interface{ Permanent() bool }
	switch {
	case err == nil:
		return nil
	case errors.As(err, &lasting) && lasting.Permanent():
		return node.Refuse(node.Invalid, "%v", err)
	}
	return node.Refuse(node.Busy, "%v", err)
}

// DetachVIF takes a virtual interface off a node that is not reserved.
func (e *Records) DetachVIF(ctx context.Context, ref, id string) error {
	return e.rewire(ctx, ref,
		func(ports []node.Port, groups []node.Portgroup, n node.Node) (*node.Port, *node.Portgroup, error) {
			for i := range groups {
				if groups[i].VIF() == id {
					groups[i].SetVIF("")
					return nil, &groups[i], e.unplug(ctx, n, id)
				}
			}
			for i := range ports {
				if ports[i].VIF() == id {
					ports[i].SetVIF("")
					return &ports[i], nil, e.unplug(ctx, n, id)
				}
			}
			return nil, nil, node.Refuse(node.Invalid, "Unable to detach VIF %s from node %s because it is not attached to it.",
				id, n.UUID)
		})
}

// unplug takes a VIF off the machine, which it is bound to while the machine runs its owner's system.
func (e *Records) unplug(ctx context.Context, n node.Node, vif string) error {
	if !e.Neutron(n) || n.ProvisionState != node.Active && n.ProvisionState != node.Deleting {
		return nil
	}
	return unplugged(e.Networks.Unplug(ctx, vif))
}

// plugging changes one of a node's ports or portgroups, and returns it.
type plugging func(ports []node.Port, groups []node.Portgroup, n node.Node) (*node.Port, *node.Portgroup, error)

// rewire lets change change one thing and saves it.
func (e *Records) rewire(ctx context.Context, ref string, change plugging) error {
	e.wiring.Lock()
	defer e.wiring.Unlock()
	_, err := core.Again(func() (none struct{}, err error) {
		n, err := e.Free(ctx, ref)
		if err != nil || !n.Networked() {
			return none, err
		}
		ports, groups, err := e.plugs(ctx, n.UUID)
		if err != nil {
			return none, err
		}
		port, group, err := change(ports, groups, n)
		if err != nil {
			return none, err
		}
		return none, e.savePlug(ctx, n, port, group)
	})
	if errors.Is(err, node.ErrStale) {
		return e.Locked(ref)
	}
	return err
}

// savePlug saves whichever of the two there is.
func (e *Records) savePlug(ctx context.Context, n node.Node, port *node.Port, group *node.Portgroup) error {
	now := e.Now()
	if group != nil {
		group.UpdatedAt = &now
		_, err := e.kept().Portgroups.Save(ctx, *group)
		return err
	}
	port.UpdatedAt = &now
	_, err := e.Commit(ctx, node.Change{Save: &n, SavePorts: []node.Port{*port}})
	return err
}
