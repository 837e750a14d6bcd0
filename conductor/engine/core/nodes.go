package core

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// CreateNode stores a new node. UUID, times and the interfaces that were not
// named are filled in; the state is enroll unless n asks for available, as
// clients older than API 1.11 do.
func (e *Core) CreateNode(ctx context.Context, n node.Node) (node.Node, error) {
	if n.UUID == "" {
		n.UUID = uuid.NewString()
	}
	if n.ProvisionState != node.Available {
		n.ProvisionState = node.Enroll
	}
	n.CreatedAt, n.ProvisionUpdatedAt, n.UpdatedAt = e.Now(), nil, nil
	if err := e.CheckImported(ctx, nil, &n); err != nil {
		return n, err
	}
	return e.Commit(ctx, node.Change{Insert: &n})
}

// CheckImported holds a node that is written as a whole to the rules of every new one, and fills in its interfaces. old
// is the node before, nil for none.
func (e *Core) CheckImported(ctx context.Context, old, n *node.Node) error {
	if err := e.FillInterfaces(n); err != nil {
		return err
	}
	if old == nil {
		old = &node.Node{}
	}
	if err := e.checkForm(*old, *n); err != nil {
		return err
	}
	return e.checkParent(ctx, *n)
}

func (e *Core) driverNames() []string { return slices.Sorted(maps.Keys(e.BMCs)) }

// HardwareTypes lists the enabled hardware types, by name.
func (e *Core) HardwareTypes() []node.HardwareType {
	var out []node.HardwareType
	for _, name := range e.driverNames() {
		if hw, ok := e.hardwareType(name); ok {
			out = append(out, hw)
		}
	}
	return out
}

// Node returns a node by UUID or name, and turns the store's errors into refusals.
func (e *Core) Node(ctx context.Context, ref string) (node.Node, error) {
	n, err := e.Store.Node(ctx, ref)
	if errors.Is(err, node.ErrNotFound) {
		return n, node.Refuse(node.NotFound, "Node %s could not be found.", ref)
	}
	return n, err
}

// Nodes returns the nodes that match, in order.
func (e *Core) Nodes(ctx context.Context, q node.Query) ([]node.Node, error) {
	nodes, err := e.Store.Nodes(ctx, q)
	if errors.Is(err, node.ErrNotFound) {
		return nil, node.Refuse(node.NotFound, "Node %s could not be found.", q.Marker)
	}
	return nodes, err
}

// NodeUUIDs lists the UUIDs of the nodes that match, in order. It costs much less than Nodes.
func (e *Core) NodeUUIDs(ctx context.Context, q node.Query) ([]string, error) {
	return e.Store.NodeUUIDs(ctx, q)
}

// Shards counts the nodes of each shard; nodes without a shard come first.
func (e *Core) Shards(ctx context.Context) ([]node.Shard, error) { return e.Store.Shards(ctx) }

// Updatable are the states in which a node may be edited although it is moving to another state (Ironic's
// UPDATE_ALLOWED_STATES).
var Updatable = map[node.State]bool{
	node.DeployFailed: true, node.InspectFailed: true, node.InspectWait: true, node.CleanFailed: true,
	node.Error: true, node.Verifying: true, node.AdoptFailed: true, node.RescueFailed: true,
	node.UnrescueFailed: true, node.ServiceHold: true, node.ServiceFailed: true,
}

// UpdateNode edits a node. It refuses while the node is reserved, or moves to another state and Ironic refuses it, too.
// Exception: the instance can be removed from a moving node in maintenance. edit may run more than once and may return
// a Refusal.
func (e *Core) UpdateNode(ctx context.Context, ref string, edit func(*node.Node) error) (node.Node, error) {
	return e.Edit(ctx, ref, func(n *node.Node) error {
		moving := n.TargetProvisionState != "" && !Updatable[n.ProvisionState]
		if moving && !n.Maintenance {
			return inTransition(n.UUID)
		}
		old := n.Clone()
		if err := edit(n); err != nil {
			return err
		}
		if moving && !onlyParted(old, *n) {
			return inTransition(n.UUID)
		}
		for _, check := range []func(old node.Node, n *node.Node) error{checkProtected, checkRetired} {
			if err := check(old, n); err != nil {
				return err
			}
		}
		if err := e.checkInstance(ctx, old, n); err != nil {
			return err
		}
		if n.ParentNode != old.ParentNode {
			if err := e.checkParent(ctx, *n); err != nil {
				return err
			}
		}
		if err := e.checkForm(old, *n); err != nil {
			return err
		}
		plan.ForgetSystem(old, n)
		if err := checkSettled(old, *n); err != nil {
			return err
		}
		return e.FillInterfaces(n)
	})
}

func inTransition(uuid string) error {
	return node.Refuse(node.Conflict, "Node %s can not be updated while a state transition is in progress.", uuid)
}

// Edit changes a node outside of plan: the fields that operators write, never its state.
func (e *Core) Edit(ctx context.Context, ref string, change func(*node.Node) error) (node.Node, error) {
	return e.edit(ctx, ref, e.Free, change)
}

// edit changes a node that read returns, and tries again when it was saved meanwhile.
func (e *Core) edit(ctx context.Context, ref string, read func(context.Context, string) (node.Node, error),
	change func(*node.Node) error) (node.Node, error) {
	for range MaxTries {
		old, err := read(ctx, ref)
		if err != nil {
			return old, err
		}
		n := old.Clone()
		if err := change(&n); err != nil {
			return old, err
		}
		n.UUID, n.Revision, n.ProvisionState, n.Run = old.UUID, old.Revision, old.ProvisionState, old.Run
		saved, err := e.Commit(ctx, node.Change{Was: &old, Save: &n, DropAllocation: node.Released(old, n)})
		if errors.Is(err, node.ErrStale) {
			continue
		}
		return saved, err
	}
	return node.Node{}, e.Locked(ref)
}

// atRevision returns a node at the revision that the caller asks for, also while an effect holds it.
func (e *Core) atRevision(ctx context.Context, ref string) (node.Node, error) {
	n, err := e.Node(ctx, ref)
	if err == nil {
		err = node.CheckRevision(ctx, &n)
	}
	return n, err
}

// Free returns a node that no effect holds.
func (e *Core) Free(ctx context.Context, ref string) (node.Node, error) {
	n, err := e.atRevision(ctx, ref)
	if err != nil {
		return n, err
	}
	holder, err := e.Reserved(ctx, n.UUID)
	if err != nil {
		return n, err
	}
	if holder != "" {
		return n, e.Locked(n.UUID)
	}
	return n, nil
}

// Locked is the refusal of a request for a node that an effect holds.
func (e *Core) Locked(ref string) error {
	return node.LockedBy(ref, e.ConductorName())
}

// Reserved names the conductor that works on a node, "" when none does.
func (e *Core) Reserved(ctx context.Context, uuid string) (string, error) {
	pending, err := e.Store.PendingEffect(ctx, uuid)
	if err != nil || pending == nil {
		return "", err
	}
	if pending.Owner != "" {
		return pending.Owner, nil
	}
	return e.ConductorName(), nil
}

// deletable are the states a node can be deleted in without being in
// maintenance.
var deletable = map[node.State]bool{node.Enroll: true, node.Manageable: true, node.Available: true,
	node.AdoptFailed: true}

// DeleteNode removes a node and all that belongs to it.
func (e *Core) DeleteNode(ctx context.Context, ref string) error {
	uuid, err := Again(func() (string, error) {
		n, err := e.Free(ctx, ref)
		if err == nil {
			err = checkDeletable(n)
		}
		if err == nil && plan.Neutron(n) { // another network interface is the way out where Neutron is gone for good
			err = NetworkRefusal(e.LeaveNetworks(ctx, n))
		}
		if err == nil {
			err = e.remove(ctx, n)
		}
		return n.UUID, err
	})
	if err != nil {
		return err
	}
	if e.BootLogs != nil {
		if err := e.BootLogs.Forget(uuid); err != nil {
			e.Log.Warn("the logs of a deleted node stay until the next start", "node", uuid, "err", err)
		}
	}
	return nil
}

// remove deletes a node. A node in maintenance may be in the middle of an erase: the report then records that the end
// was not seen.
func (e *Core) remove(ctx context.Context, n node.Node) error {
	c := node.Change{Was: &n, Delete: n.UUID, DeleteAt: n.Revision}
	if plan.Erases(n) {
		found, err := e.InventoryOf(ctx, n.UUID)
		if err != nil {
			return err
		}
		c.PutEraseReport = plan.UnfinishedErase(n, found, "the node was deleted", e.Now())
	}
	_, err := e.Commit(ctx, c)
	return err
}

// checkDeletable refuses to delete a node that is protected or in use.
func checkDeletable(n node.Node) error {
	switch {
	case n.Protected:
		return node.Refuse(node.Forbidden, "Node %s is protected and can not be undeployed, rebuilt or deleted", n.UUID)
	case !n.Maintenance && n.InstanceUUID != "":
		return node.Refuse(node.Conflict, "Node %s is associated with instance %s.", n.UUID, n.InstanceUUID)
	case !n.Maintenance && !deletable[n.ProvisionState]:
		return node.Refuse(node.Conflict,
			"Can not delete node %q while it is in provision state %q. Valid provision states to perform deletion are: "+
				"enroll, manageable, available, adopt failed; or set the node into maintenance first.", n.UUID, n.ProvisionState)
	}
	return nil
}

// Provision requests a verb. It returns once the verb is accepted; the work continues by itself.
func (e *Core) Provision(ctx context.Context, ref string, r plan.Request) error {
	if r.ConfigDrive != nil {
		if _, err := e.Drives.Encode(r.ConfigDrive, node.Node{}); err != nil {
			return node.Refuse(node.Invalid, "config drive: %v", err)
		}
	}
	if r.RescuePassword != "" {
		hash, err := hashPassword(r.RescuePassword, e.Settings.RescueHash)
		if err != nil {
			return err
		}
		r.RescueHash, r.RescuePassword = hash, ""
	}
	var err error
	if r.Image, err = e.requestedImage(ctx, ref, r); err != nil {
		return err
	}
	_, err = e.Act(ctx, ref, r)
	return err
}

// SetPower asks for a power state; timeout 0 means the default.
func (e *Core) SetPower(ctx context.Context, ref string, target node.PowerState, timeout time.Duration) error {
	_, err := e.Act(ctx, ref, plan.PowerRequest{Target: target, Timeout: timeout, User: userOf(ctx).name})
	return err
}

// TryPower requests power as SetPower does, but the BMC is called only once: a caller that reports each try has to make
// the tries itself. A power off overtakes an operating system that is still shutting down.
func (e *Core) TryPower(ctx context.Context, ref string, target node.PowerState) error {
	_, err := e.Act(ctx, ref, plan.PowerRequest{Target: target, Once: true, Overtake: true, User: userOf(ctx).name})
	return err
}

// SetMaintenance takes a node out of service or back into it, which also clears its fault. It clears a power failure
// either way: maintenance that an operator has requested does not end by itself. It works on a reserved node, too: a
// BMC that hangs must not keep its operator out.
func (e *Core) SetMaintenance(ctx context.Context, ref string, on bool, reason string) error {
	_, err := e.edit(ctx, ref, e.atRevision, func(n *node.Node) error {
		n.Maintenance, n.MaintenanceReason = on, ""
		if on {
			n.MaintenanceReason = reason
		}
		if !on || n.Fault == plan.PowerFailure {
			n.Fault = ""
		}
		return nil
	})
	return err
}

// Inspected returns the findings of the last inspection.
func (e *Core) Inspected(ctx context.Context, ref string) (node.Inspected, error) {
	n, err := e.Node(ctx, ref)
	if err != nil {
		return node.Inspected{}, err
	}
	found, err := e.Store.Inspected(ctx, n.UUID)
	if errors.Is(err, node.ErrNotFound) {
		return found, node.Refuse(node.NotFound, "Node %s has no inventory: it was never inspected.", n.UUID)
	}
	return found, err
}

// History returns the history of a node, oldest first.
func (e *Core) History(ctx context.Context, ref string) ([]node.HistoryEntry, error) {
	n, err := e.Node(ctx, ref)
	if err != nil {
		return nil, err
	}
	return e.Store.History(ctx, n.UUID)
}
