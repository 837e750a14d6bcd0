package jobs

import (
	"context"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// attachNetwork puts the machine's ports into a network.
func (j *job) attachNetwork(ctx context.Context, a plan.NetworkArgs) (any, error) {
	return j.attachTo(ctx, a.Network)
}

func (j *job) attachTo(ctx context.Context, network string) (a plan.Attached, err error) {
	if j.Networks == nil {
		return a, node.Refuse(node.Invalid, "this conductor knows no Neutron: start it with --neutron-networks")
	}
	j.leave() // the drivers of switches take their time
	ports, groups, err := j.Plugs(ctx, j.n.UUID)
	if err != nil {
		return a, err
	}
	return j.Networks.Attach(ctx, j.n, network, ports, groups)
}

// reattachNetworks unbinds the VIFs of a node, and binds them again: the drivers of switches act on both.
func (j *job) reattachNetworks(ctx context.Context) (any, error) {
	if _, err := j.attachTo(ctx, plan.NoNetwork); err != nil {
		return nil, fmt.Errorf("unbind the VIFs: %w", err)
	}
	a, err := j.attachTo(ctx, plan.TenantNetwork)
	if err != nil {
		return nil, fmt.Errorf("the VIFs are unbound, so the machine has no network until this step is done again: %w", err)
	}
	return a, nil
}

// leaveNetwork removes the ports of a ramdisk.
func (j *job) leaveNetwork(ctx context.Context) (any, error) {
	j.leave()
	return nil, j.LeaveNetworks(ctx, j.n)
}

// returnToTenant starts the machine in the network of its owner, which it enters while it is off.
func (j *job) returnToTenant(ctx context.Context) (any, error) {
	change := func(name string) error {
		power := *j
		power.effect.Name, power.effect.Args = name, []byte("null")
		_, err := power.power(ctx)
		return err
	}
	if !j.accepted(plan.TenantNetwork) { // else the owner's system may run by now
		if err := change("power.power_off"); err != nil {
			return nil, err
		}
		if _, err := j.attachTo(ctx, plan.TenantNetwork); err != nil {
			return nil, err
		}
		if err := j.accept(ctx, plan.TenantNetwork); err != nil {
			return nil, err
		}
	}
	return nil, change("power.power_on")
}
