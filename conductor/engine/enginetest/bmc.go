package enginetest

import (
	"cmp"
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// toBMC is a call to the BMC of one node.
func (w *World) toBMC(ctx context.Context, n node.Node, work func(m *Machine)) error {
	w.Mu.Lock()
	broken, lost := w.Broken[n.UUID], w.Lost[n.UUID]
	w.Mu.Unlock()
	if broken {
		return node.Refuse(node.Invalid, "this BMC refuses everything")
	}
	if lost {
		return ErrLost
	}
	return w.call(ctx, func() { work(w.Machine(n.UUID)) })
}

// Validate accepts every node.
func (w *World) Validate(node.Node) error { return nil }

// PowerState reads the power of the machine.
func (w *World) PowerState(ctx context.Context, n node.Node) (p node.PowerState, err error) {
	err = w.toBMC(ctx, n, func(m *Machine) { p = m.Power })
	return p, err
}

// SetPower switches the machine, and so begins or ends its programs.
func (w *World) SetPower(ctx context.Context, n node.Node, target node.PowerState) error {
	return w.toBMC(ctx, n, func(m *Machine) {
		m.Boot++
		m.Power = plan.PowerAfter(target)
		if w.Pressed != nil {
			w.Pressed(m.Power)
		}
		m.token, m.commands, m.writing, m.LetGo = "", nil, 0, false
		m.bios = m.pending
		m.mode = cmp.Or(m.nextMode, m.mode)
		if boot := m.Boot; m.Power == node.PowerOn {
			w.powered.Go(func() { w.run(n.UUID, boot) })
		}
	})
}

// BootDevice returns the device of the next start.
func (w *World) BootDevice(ctx context.Context, n node.Node) (d string, persistent bool, err error) {
	err = w.toBMC(ctx, n, func(m *Machine) { d, persistent = m.Device, m.lasting })
	return d, persistent, err
}

// SetBootDevice sets the device of the next start, or of all.
func (w *World) SetBootDevice(ctx context.Context, n node.Node, device string, persistent bool) error {
	return w.toBMC(ctx, n, func(m *Machine) { m.Device, m.lasting = device, persistent && !w.Once })
}

// SupportedBootDevices is the network and the disk.
func (w *World) SupportedBootDevices(node.Node) []string { return []string{"pxe", "disk"} }

// System returns w.Hardware.
func (w *World) System(context.Context, node.Node) (node.System, error) { return w.Hardware, nil }

// BootMode returns the mode in force.
func (w *World) BootMode(_ context.Context, n node.Node) (string, error) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	return cmp.Or(w.Machine(n.UUID).mode, "uefi"), nil
}

// SetBootMode sets the mode at once.
func (w *World) SetBootMode(_ context.Context, n node.Node, mode string) error {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	w.Machine(n.UUID).mode = mode
	return nil
}
