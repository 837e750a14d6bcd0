package engine_test

import (
	"cmp"
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// toBMC is a call to the BMC of one node.
func (w *world) toBMC(ctx context.Context, n node.Node, work func(m *machine)) error {
	w.mu.Lock()
	broken, lost := w.broken[n.UUID], w.lost[n.UUID]
	w.mu.Unlock()
	if broken {
		return node.Refuse(node.Invalid, "this BMC refuses everything")
	}
	if lost {
		return errLost
	}
	return w.call(ctx, func() { work(w.of(n.UUID)) })
}

func (w *world) Validate(node.Node) error { return nil }

func (w *world) PowerState(ctx context.Context, n node.Node) (p node.PowerState, err error) {
	err = w.toBMC(ctx, n, func(m *machine) { p = m.power })
	return p, err
}

func (w *world) SetPower(ctx context.Context, n node.Node, target node.PowerState) error {
	return w.toBMC(ctx, n, func(m *machine) {
		m.boot++
		m.power = plan.PowerAfter(target)
		if w.pressed != nil {
			w.pressed(m.power)
		}
		m.token, m.commands, m.writing, m.letGo = "", nil, 0, false
		m.bios = m.pending
		m.mode = cmp.Or(m.nextMode, m.mode)
		if boot := m.boot; m.power == node.PowerOn {
			w.powered.Go(func() { w.run(n.UUID, boot) })
		}
	})
}

func (w *world) BootDevice(ctx context.Context, n node.Node) (d string, persistent bool, err error) {
	err = w.toBMC(ctx, n, func(m *machine) { d, persistent = m.device, m.lasting })
	return d, persistent, err
}

func (w *world) SetBootDevice(ctx context.Context, n node.Node, device string, persistent bool) error {
	return w.toBMC(ctx, n, func(m *machine) { m.device, m.lasting = device, persistent && !w.once })
}
func (w *world) SupportedBootDevices(node.Node) []string                { return []string{"pxe", "disk"} }
func (w *world) System(context.Context, node.Node) (node.System, error) { return w.system, nil }

func (w *world) BootMode(_ context.Context, n node.Node) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cmp.Or(w.of(n.UUID).mode, "uefi"), nil
}

func (w *world) SetBootMode(_ context.Context, n node.Node, mode string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.of(n.UUID).mode = mode
	return nil
}
