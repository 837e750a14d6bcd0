package core

import (
	"context"
	"errors"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// Plugs is all of a node that a virtual interface could be attached to.
func (e *Core) Plugs(ctx context.Context, uuid string) ([]node.Port, []node.Portgroup, error) {
	ports, err := e.Store.Ports(ctx, node.PortQuery{NodeUUID: uuid})
	if err != nil {
		return nil, nil, err
	}
	groups, err := e.Store.Catalogs().Portgroups.List(ctx, "node_uuid", uuid)
	return ports, groups, err
}

// LeaveNetworks removes the ports that a ramdisk of the node may have left in its network.
func (e *Core) LeaveNetworks(ctx context.Context, n node.Node) error {
	ports, groups, err := e.Plugs(ctx, n.UUID)
	if err != nil || !plan.InRamdiskNetwork(ports) {
		return err
	}
	if e.Networks == nil {
		return node.Refuse(node.Invalid, "node %s is in the network of a ramdisk, and this conductor knows no Neutron: "+
			"start it with --neutron-networks, or set another network_interface", n.UUID)
	}
	return e.Networks.Leave(ctx, n, ports, groups)
}

// NetworkRefusal words an error of Neutron for a caller that waits for it.
func NetworkRefusal(err error) error {
	var refused *node.Refusal
	var lasting interface{ Permanent() bool }
	switch {
	case err == nil, errors.As(err, &refused):
		return err
	case errors.As(err, &lasting) && lasting.Permanent():
		return node.Refuse(node.Invalid, "%v", err)
	}
	return node.Refuse(node.Busy, "%v", err)
}
