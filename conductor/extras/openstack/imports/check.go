package imports

import (
	"context"
	"errors"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// prepare checks a node from elsewhere, and sets the fields that are not imported. old is the node with that UUID here,
// nil for none.
func (e *Imports) prepare(ctx context.Context, r node.ImportRequest, b *node.Bundle, old *node.Node) error {
	n := &b.Node
	if err := checkAtRest(*n); err != nil {
		return err
	}
	n.Run, n.Child, n.Chore, n.Agent, n.TargetPowerState, n.ConsoleEnabled = nil, nil, "", node.Agent{}, "", false
	if n.TargetProvisionState == "" || n.ProvisionState.Class() == node.Stable {
		n.TargetProvisionState = node.States[n.ProvisionState].Target
	}
	now := e.Now()
	if n.CreatedAt.IsZero() {
		n.CreatedAt = now
	}
	for i := range b.Ports {
		b.Ports[i].NodeUUID, b.Ports[i].CreatedAt = n.UUID, now
	}
	for i := range b.Portgroups {
		b.Portgroups[i].NodeUUID, b.Portgroups[i].CreatedAt = n.UUID, now
	}
	for i := range b.Connectors {
		b.Connectors[i].NodeUUID, b.Connectors[i].CreatedAt = n.UUID, now
	}
	for i := range b.Targets {
		b.Targets[i].NodeUUID, b.Targets[i].CreatedAt = n.UUID, now
	}
	n.AllocationUUID = ""
	if a := b.Allocation; a != nil {
		a.NodeUUID, a.State, a.CreatedAt, n.AllocationUUID = n.UUID, node.AllocationActive, now, a.UUID
	}
	if missing := r.DryRun && e.missing(ctx, n.ParentNode); missing { // it is imported before this node
		parent := n.ParentNode
		n.ParentNode = ""
		defer func() { n.ParentNode = parent }()
	}
	return e.check(ctx, b, old)
}

func (e *Imports) missing(ctx context.Context, ref string) bool {
	_, err := e.Store.Node(ctx, ref)
	return ref != "" && errors.Is(err, node.ErrNotFound)
}

// checkAtRest refuses a node that something is being done to.
func checkAtRest(n node.Node) error {
	info, known := node.States[n.ProvisionState]
	switch {
	case !known:
		return node.Refuse(node.Invalid, "provision_state %q of node %s is not a state of Ironic",
			n.ProvisionState, n.UUID)
	case info.Class != node.Stable && info.Class != node.Failed:
		return node.Refuse(node.InvalidState,
			"Node %s is %q: only nodes at rest can be imported; wait until it is available, active or another stable state, "+
				"or abort its activity.", n.UUID, n.ProvisionState)
	case n.PowerState != "" && n.PowerState != node.PowerOn && n.PowerState != node.PowerOff:
		return node.Refuse(node.Invalid, "power_state %q of node %s: expected %q, %q or none", n.PowerState, n.UUID,
			node.PowerOn, node.PowerOff)
	case n.ParentNode == n.UUID:
		return node.Refuse(node.Invalid, "node %s is its own parent_node", n.UUID)
	}
	return nil
}

// check refuses a bundle that contradicts itself, or the rules that hold for every node.
func (e *Imports) check(ctx context.Context, b *node.Bundle, old *node.Node) error {
	n := &b.Node
	if at := Masked(b); at != "" {
		return node.Refuse(node.Invalid, "%s of node %s is %s, a mask, not the secret: send the secret", at[1:], n.UUID,
			nodeapi.Masked)
	}
	slices.Sort(n.Traits)
	n.Traits = slices.Compact(n.Traits)
	if len(n.Traits) > node.MaxTraits {
		return node.Refuse(node.Invalid, "node %s has %d traits; the limit is %d", n.UUID, len(n.Traits), node.MaxTraits)
	}
	if a := b.Allocation; a != nil && a.UUID != n.InstanceUUID {
		return node.Refuse(node.Invalid, "allocation %s of node %s is not its instance_uuid %q", a.UUID, n.UUID,
			n.InstanceUUID)
	}
	if err := e.CheckImported(ctx, old, n); err != nil {
		return err
	}
	if err := e.checkWiring(b); err != nil {
		return err
	}
	return e.checkTaken(ctx, b)
}

// checkWiring holds the ports to the rules between ports and portgroups.
func (e *Imports) checkWiring(b *node.Bundle) error {
	for _, p := range b.Ports {
		var bond *node.Bond
		if p.PortgroupUUID != "" {
			at := slices.IndexFunc(b.Portgroups, func(g node.Portgroup) bool { return g.UUID == p.PortgroupUUID })
			if at < 0 {
				return node.Refuse(node.Invalid, "port %s is in portgroup %s, which node %s has not", p.UUID, p.PortgroupUUID,
					b.Node.UUID)
			}
			bond = &node.Bond{Portgroup: b.Portgroups[at]}
			for _, other := range b.Ports {
				if other.PortgroupUUID == p.PortgroupUUID {
					bond.Members = append(bond.Members, other)
				}
			}
		}
		if err := node.CheckPort(b.Node, nil, p, bond); err != nil {
			return err
		}
	}
	return nil
}

// checkTaken refuses names and the like that another node has. The store would refuse them too, but not in a dry run.
func (e *Imports) checkTaken(ctx context.Context, b *node.Bundle) error {
	n := &b.Node
	if n.Name != "" {
		other, err := e.Store.Node(ctx, n.Name)
		if err == nil && other.UUID != n.UUID {
			return node.Refuse(node.Conflict, "A node with name %s already exists: %s.", n.Name, other.UUID)
		}
		if err != nil && !errors.Is(err, node.ErrNotFound) {
			return err
		}
	}
	if n.InstanceUUID != "" {
		others, err := e.Store.Nodes(ctx, node.Query{
			Equal: map[string]string{"instance_uuid": n.InstanceUUID}, WithChildren: true})
		if err != nil {
			return err
		}
		if len(others) > 0 && others[0].UUID != n.UUID {
			return node.Refuse(node.Conflict, "Instance %s is already associated with node %s.", n.InstanceUUID, others[0].UUID)
		}
	}
	var addresses []string
	for _, p := range b.Ports {
		if slices.Contains(addresses, p.Address) {
			return node.Refuse(node.Conflict, "Two ports of node %s have the MAC address %s.", n.UUID, p.Address)
		}
		addresses = append(addresses, p.Address)
	}
	taken, err := e.Taken(ctx, n.UUID, addresses)
	if err != nil {
		return err
	}
	for _, address := range addresses {
		if taken[address] {
			return node.Refuse(node.Conflict, "A port with MAC address %s already exists, of another node.", address)
		}
	}
	return nil
}
