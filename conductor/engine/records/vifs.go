package records

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// VIFs lists the virtual interfaces that are attached to a node, those on ports first. A node with network interface
// noop has none.
func (e *Records) VIFs(ctx context.Context, ref string) ([]string, error) {
	n, err := e.Node(ctx, ref)
	if err != nil || !n.Networked() {
		return nil, err
	}
	ports, groups, err := e.Plugs(ctx, n.UUID)
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

// AttachVIF attaches a virtual interface to a free port or portgroup of a node
// that is not reserved. noop takes any, and keeps none; neutron connects it, and flat, where
// the conductor knows Neutron.
func (e *Records) AttachVIF(ctx context.Context, ref string, v node.VIF) error {
	n, err := e.Node(ctx, ref)
	if err != nil {
		return err
	}
	if e.connects(n) {
		if v, err = e.visible(ctx, n, v); err != nil {
			return err
		}
	}
	err = e.rewire(ctx, n.UUID,
		func(ports []node.Port, groups []node.Portgroup, _ node.Node) (*node.Port, *node.Portgroup, error) {
			port, group, err := node.PlaceVIF(v, ports, groups)
			if port != nil {
				port.SetVIF(v.ID)
			}
			if group != nil {
				group.SetVIF(v.ID)
			}
			return port, group, err
		})
	if err != nil || !e.connects(n) {
		return err
	}
	ctx, done := toEnd(ctx)
	defer done()
	ports, groups, err := e.Plugs(ctx, n.UUID)
	if err == nil {
		err = e.Networks.Plug(ctx, n, v.ID, ports, groups)
	}
	if err != nil { // the record says nothing that is not so
		return errors.Join(core.NetworkRefusal(err), e.rewire(ctx, n.UUID, detaching(v.ID)))
	}
	return nil
}

// wiringTime bounds a change at Neutron that is brought to its end: a few requests, each of which has its own limit.
const wiringTime = 10 * time.Minute

// toEnd returns a context that survives a client that goes away. A change of a VIF in Neutron, its record and the
// undoing of both must not stay half done.
func toEnd(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), wiringTime)
}

// connects reports whether a node's VIFs are connected by this conductor.
func (e *Records) connects(n node.Node) bool {
	return (plan.Neutron(n) || plan.Flat(n)) && e.Networks != nil
}

// visible checks that the project of a VIF matches, because the service user sees the VIFs of all projects. It returns
// the VIF with its physical networks.
func (e *Records) visible(ctx context.Context, n node.Node, v node.VIF) (node.VIF, error) {
	project, physical, err := e.Networks.VIF(ctx, v.ID)
	if err != nil {
		return v, core.NetworkRefusal(err)
	}
	if v.Project != "" && project != v.Project {
		return v, node.Refuse(node.Invalid, "Unable to attach VIF %s: project %s has no such port in Neutron.", v.ID,
			v.Project)
	}
	v.Physical, v.Wired = physical, plan.Neutron(n)
	return v, nil
}

// readdress sends Neutron the new address of a port or portgroup that has a VIF. If that fails, undo restores the old
// address in the record.
func (e *Records) readdress(ctx context.Context, ref, vif, was, is string, undo func(context.Context) error) error {
	if vif == "" || is == "" || was == is {
		return nil
	}
	ctx, done := toEnd(ctx)
	defer done()
	n, err := e.Node(ctx, ref)
	if err != nil || !e.connects(n) {
		return err
	}
	ports, groups, err := e.Plugs(ctx, n.UUID)
	if err == nil {
		err = e.Networks.Readdress(ctx, n, vif, ports, groups)
	}
	if err != nil {
		return errors.Join(core.NetworkRefusal(err), undo(ctx))
	}
	return nil
}

// DetachVIF takes a virtual interface off a node that is not reserved.
func (e *Records) DetachVIF(ctx context.Context, ref, id string) error {
	n, err := e.Free(ctx, ref)
	if err != nil {
		return err
	}
	ctx, done := toEnd(ctx)
	defer done()
	if e.connects(n) && !unconnected[n.ProvisionState] {
		vifs, err := e.VIFs(ctx, n.UUID)
		if err == nil && slices.Contains(vifs, id) {
			err = e.Networks.Unplug(ctx, id)
		}
		if err != nil {
			return core.NetworkRefusal(err)
		}
	}
	return e.rewire(ctx, n.UUID, detaching(id))
}

// leaveByPort removes the Neutron port of a ramdisk that a node's port records, or may have. Without that record the
// Neutron port would never be removed.
func (e *Records) leaveByPort(ctx context.Context, n node.Node, p node.Port) error {
	_, may := plan.RamdiskPorts(p)
	switch {
	case !may:
		return nil
	case !n.Maintenance:
		return node.Refuse(node.Conflict, "Cannot delete the port %s: it is in the network of a ramdisk, or may be; have "+
			"node %s leave that first (manage; in manageable: clean or provide; in active: power on), or put the node into "+
			"maintenance", p.UUID, n.UUID)
	case e.Networks == nil && plan.Neutron(n):
		return node.Refuse(node.Invalid, "port %s is in the network of a ramdisk, or may be, and this conductor knows no "+
			"Neutron: start it with --neutron-networks, or set another network_interface", p.UUID)
	case e.Networks == nil: // gone for good
		return nil
	}
	_, groups, err := e.Plugs(ctx, n.UUID)
	if err != nil {
		return err
	}
	return core.NetworkRefusal(e.Networks.Leave(ctx, n, []node.Port{p}, groups))
}

// unconnected are the states in which no VIF is bound to the machine.
var unconnected = map[node.State]bool{node.Enroll: true, node.Manageable: true, node.Available: true}

// detaching removes a VIF from the port or portgroup that has it.
func detaching(id string) plugging {
	return func(ports []node.Port, groups []node.Portgroup, n node.Node) (*node.Port, *node.Portgroup, error) {
		for i := range groups {
			if groups[i].VIF() == id {
				groups[i].SetVIF("")
				return nil, &groups[i], nil
			}
		}
		for i := range ports {
			if ports[i].VIF() == id {
				ports[i].SetVIF("")
				return &ports[i], nil, nil
			}
		}
		return nil, nil, node.Refuse(node.Invalid, "Unable to detach VIF %s from node %s because it is not attached to it.",
			id, n.UUID)
	}
}

// plugging changes one of a node's ports or portgroups, and returns it.
type plugging func(ports []node.Port, groups []node.Portgroup, n node.Node) (*node.Port, *node.Portgroup, error)

// rewire applies one change of VIFs and saves it.
func (e *Records) rewire(ctx context.Context, ref string, change plugging) error {
	e.wiring.Lock()
	defer e.wiring.Unlock()
	_, err := core.Again(func() (none struct{}, err error) {
		n, err := e.Free(ctx, ref)
		if err != nil || !n.Networked() {
			return none, err
		}
		ports, groups, err := e.Plugs(ctx, n.UUID)
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
