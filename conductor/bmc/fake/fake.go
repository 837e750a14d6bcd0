// Package fake is Ironic's fake-hardware: a machine that obeys at once and, for tests, fails
// on command.
//
// It must not touch anything: it only remembers. Until it is given a state it takes the
// node's record for true, so that a restart of the conductor does not turn machines off.
package fake

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Script is how a driver behaves; the zero value does all at once and fails
// never.
type Script struct {
	Delay  time.Duration // how long each call takes
	Faults []Fault
}

// Fault is a failure of some calls.
type Fault struct {
	Call  string        // "SetPower", "PowerState", ...; "" for any
	Node  string        // UUID; "" for any
	Nth   int           // which of the matching calls, 1 for the first; 0 for all
	Delay time.Duration // added to the script's
	Err   error         // nil for a call that is only slow
	After bool          // fail having done it
}

// Driver is fake-hardware.
type Driver struct {
	mu       sync.Mutex
	script   Script
	seen     []int // how many calls matched each fault
	calls    map[string]int
	machines map[string]*machine
}

// machine is the state that was set for one node.
type machine struct {
	power      node.PowerState
	device     string
	persistent bool
	mode       string
	secure     *bool             // secure boot
	light      string            // of the system, "" before it was set
	media      map[string]string // images by kind of drive
}

// New makes a driver that follows a script.
func New(s Script) *Driver {
	return &Driver{script: s, seen: make([]int, len(s.Faults)), calls: map[string]int{}, machines: map[string]*machine{}}
}

// Calls is the number of times that a call was made.
func (d *Driver) Calls(call string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls[call]
}

// due counts a call, and returns its duration and its failure.
func (d *Driver) due(call, uuid string) (delay time.Duration, err error, after bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls[call]++
	delay = d.script.Delay
	for i, f := range d.script.Faults {
		if f.Call != "" && f.Call != call || f.Node != "" && f.Node != uuid {
			continue
		}
		d.seen[i]++
		if f.Nth == 0 || f.Nth == d.seen[i] {
			delay += f.Delay
			err, after = f.Err, f.After
		}
	}
	return delay, err, after
}

// call does something to the machine of n, slowly and badly as the script has it.
func (d *Driver) call(ctx context.Context, name string, n node.Node, do func(m *machine)) error {
	delay, err, after := d.due(name, n.UUID)
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !after {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	m := d.machines[n.UUID]
	if m == nil {
		m = &machine{power: n.PowerState, device: "pxe", mode: n.BootMode, secure: n.SecureBoot, media: map[string]string{}}
		d.machines[n.UUID] = m
	}
	do(m)
	return err
}

// Validate finds nothing to complain of.
func (d *Driver) Validate(node.Node) error { return nil }

// PowerState answers "" for a node with a state that was never set nor recorded, as Ironic's fake driver does.
func (d *Driver) PowerState(ctx context.Context, n node.Node) (p node.PowerState, err error) {
	err = d.call(ctx, "PowerState", n, func(m *machine) { p = m.power })
	return p, err
}

// after is the state each target ends in.
var after = map[node.PowerState]node.PowerState{
	node.PowerOn: node.PowerOn, node.Rebooting: node.PowerOn, node.SoftRebooting: node.PowerOn,
	node.PowerOff: node.PowerOff, node.SoftPowerOff: node.PowerOff,
}

// SetPower takes effect at once.
func (d *Driver) SetPower(ctx context.Context, n node.Node, target node.PowerState) error {
	state, ok := after[target]
	if !ok {
		return node.Refuse(node.Invalid, "fake-hardware cannot set the power state %q", target)
	}
	return d.call(ctx, "SetPower", n, func(m *machine) { m.power = state })
}

// BootDevice answers the device that was set; before that, pxe for the next boot.
func (d *Driver) BootDevice(ctx context.Context, n node.Node) (device string, persistent bool, err error) {
	err = d.call(ctx, "BootDevice", n, func(m *machine) { device, persistent = m.device, m.persistent })
	return device, persistent, err
}

// devices are all that Ironic has a name for.
var devices = []string{"pxe", "disk", "cdrom", "bios", "safe", "wanboot", "uefihttp", "iscsiboot", "floppy"}

// SetBootDevice takes every device there is, so that plans for real machines
// work here too.
func (d *Driver) SetBootDevice(ctx context.Context, n node.Node, device string, persistent bool) error {
	if !slices.Contains(devices, device) {
		return node.Refuse(node.Invalid, "Invalid boot device %s specified.", device)
	}
	return d.call(ctx, "SetBootDevice", n, func(m *machine) { m.device, m.persistent = device, persistent })
}

// SupportedBootDevices is pxe alone, as in Ironic's fake-hardware.
func (d *Driver) SupportedBootDevices(node.Node) []string { return []string{"pxe"} }

// BootMode answers the mode that was set, or else the node's recorded one.
func (d *Driver) BootMode(ctx context.Context, n node.Node) (mode string, err error) {
	err = d.call(ctx, "BootMode", n, func(m *machine) { mode = m.mode })
	return mode, err
}

// SetBootMode takes uefi and bios.
func (d *Driver) SetBootMode(ctx context.Context, n node.Node, mode string) error {
	if mode != "uefi" && mode != "bios" {
		return node.Refuse(node.Invalid, "fake-hardware cannot set the boot mode %q, only uefi and bios", mode)
	}
	return d.call(ctx, "SetBootMode", n, func(m *machine) { m.mode = mode })
}

// SecureBoot answers the state that was set, or else the node's recorded one.
func (d *Driver) SecureBoot(ctx context.Context, n node.Node) (on *bool, err error) {
	err = d.call(ctx, "SecureBoot", n, func(m *machine) { on = m.secure })
	return on, err
}

// SetSecureBoot takes effect at once.
func (d *Driver) SetSecureBoot(ctx context.Context, n node.Node, on bool) error {
	return d.call(ctx, "SetSecureBoot", n, func(m *machine) { m.secure = &on })
}

// System answers nothing but the boot mode: there is no machine to describe.
func (d *Driver) System(ctx context.Context, n node.Node) (s node.System, err error) {
	err = d.call(ctx, "System", n, func(m *machine) { s.BootMode = m.mode })
	return s, err
}

// Close forgets nothing and frees nothing.
func (d *Driver) Close() error { return nil }

// Volatile is true: a new process has new machines, as the store knows them.
func (d *Driver) Volatile() bool { return true }
