// Package manual is Ironic's manual-management: a machine without a BMC. A person presses its power button.
//
// It must not guess: a machine is on or off when a person has confirmed it. It only remembers, and takes the node's
// record for true until then, so that a restart of the conductor asks again for an act that was not done.
package manual

import (
	"context"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Driver is manual-management. It is safe for concurrent use.
type Driver struct {
	mu       sync.Mutex
	machines map[string]machine // by UUID of the node
}

// machine is the knowledge of one machine.
type machine struct {
	power   node.PowerState // as confirmed, or as it is taken to be while something is awaited
	awaited node.PowerState // target of SetPower that is not confirmed yet
}

// New makes a driver that waits for no confirmation.
func New() *Driver { return &Driver{machines: map[string]machine{}} }

// targets maps each target to the state that a person confirms, and to the state that counts until then. A machine to
// restart counts as off until then, so that its old power is not taken for the new one. "" keeps the former state.
var targets = map[node.PowerState]struct{ confirmed, until node.PowerState }{
	node.PowerOn: {node.PowerOn, ""}, node.PowerOff: {node.PowerOff, ""}, node.SoftPowerOff: {node.PowerOff, ""},
	node.Rebooting: {node.PowerOn, node.PowerOff}, node.SoftRebooting: {node.PowerOn, node.PowerOff},
}

// Validate finds nothing to complain of: there are no settings.
func (d *Driver) Validate(node.Node) error { return nil }

// PowerState answers the state that was confirmed last, or else the node's record.
func (d *Driver) PowerState(_ context.Context, n node.Node) (node.PowerState, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.of(n).power, nil
}

// of is the machine of a node; with the lock held.
func (d *Driver) of(n node.Node) machine {
	m, ok := d.machines[n.UUID]
	if !ok {
		m.power = n.PowerState
	}
	return m
}

// SetPower asks a person, and does not wait for them.
func (d *Driver) SetPower(_ context.Context, n node.Node, target node.PowerState) error {
	t, ok := targets[target]
	if !ok {
		return node.Refuse(node.Invalid, "manual-management cannot set the power state %q", target)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	m := d.of(n)
	if t.until != "" {
		m.power = t.until
	}
	m.awaited = target
	if m.power == t.confirmed { // on and off are asked for only when they are not there yet, as of any BMC
		m.awaited = ""
	}
	d.machines[n.UUID] = m
	return nil
}

// Awaited is the target of the SetPower that is not confirmed yet; "" for none.
func (d *Driver) Awaited(uuid string) node.PowerState {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.machines[uuid].awaited
}

// Confirm takes a person's word for the power of a machine. It is a *node.Refusal where nothing or another state is
// awaited.
func (d *Driver) Confirm(n node.Node, state node.PowerState) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := d.of(n)
	want := targets[m.awaited].confirmed
	switch {
	case m.awaited == "":
		return node.Refuse(node.Conflict, "node %s does not wait for a person to switch its machine: its power is recorded "+
			"as %q. Ask for a change first: ferrite node power on %s", n.UUID, m.power, n.UUID)
	case state != want:
		return node.Refuse(node.Conflict,
			"node %s waits for %q, and %q was confirmed: bring the machine to %q, then confirm "+
				"that", n.UUID, want, state, want)
	}
	d.machines[n.UUID] = machine{power: state}
	return nil
}

// Withdraw forgets the awaited target: no caller waits for it any more. The node's record counts as its power from then
// on, and the next SetPower asks again.
func (d *Driver) Withdraw(uuid string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.machines, uuid)
}

// BootDevice returns none: the order is set in the firmware, by hand.
func (d *Driver) BootDevice(context.Context, node.Node) (device string, persistent bool, err error) {
	return "", false, nil
}

// SetBootDevice is refused, since there is no BMC. A node's management interface is noop, which does not call it.
func (d *Driver) SetBootDevice(_ context.Context, n node.Node, device string, _ bool) error {
	return node.Refuse(node.Invalid,
		"the machine of node %s has no BMC to set the boot device %s: set the boot order in its "+
			"firmware, the network first", n.UUID, device)
}

// SupportedBootDevices is empty.
func (d *Driver) SupportedBootDevices(node.Node) []string { return nil }

// BootMode returns none.
func (d *Driver) BootMode(context.Context, node.Node) (string, error) { return "", nil }

// SetBootMode is refused, since there is no BMC.
func (d *Driver) SetBootMode(_ context.Context, n node.Node, mode string) error {
	return node.Refuse(node.Invalid, "the machine of node %s has no BMC to set the boot mode %s: set it in its firmware",
		n.UUID, mode)
}

// System is empty: there is no BMC that could describe the machine.
func (d *Driver) System(context.Context, node.Node) (node.System, error) { return node.System{}, nil }

// Close forgets nothing and frees nothing.
func (d *Driver) Close() error { return nil }
