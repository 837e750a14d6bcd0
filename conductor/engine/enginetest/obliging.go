package enginetest

import (
	"cmp"
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Obliging is the world's BMCs with all that an operator may ask of one beside
// runs. Their firmware takes a boot mode with the next start, and secure boot at
// once.
type Obliging struct{ *World }

// BootMode returns the mode in force.
func (o Obliging) BootMode(ctx context.Context, n node.Node) (mode string, err error) {
	err = o.toBMC(ctx, n, func(m *Machine) { mode = cmp.Or(m.mode, "uefi") })
	return mode, err
}

// SetBootMode sets the mode with the next start.
func (o Obliging) SetBootMode(ctx context.Context, n node.Node, mode string) error {
	return o.toBMC(ctx, n, func(m *Machine) { m.nextMode = mode })
}

// SecureBoot returns the setting in force.
func (o Obliging) SecureBoot(ctx context.Context, n node.Node) (on *bool, err error) {
	err = o.toBMC(ctx, n, func(m *Machine) { is := m.secure; on = &is })
	return on, err
}

// SetSecureBoot sets secure boot at once.
func (o Obliging) SetSecureBoot(ctx context.Context, n node.Node, on bool) error {
	return o.toBMC(ctx, n, func(m *Machine) { m.secure = on })
}

// ValidateConsole accepts every node.
func (o Obliging) ValidateConsole(node.Node) error { return nil }

// SetConsole asks the BMC, which may fail.
func (o Obliging) SetConsole(ctx context.Context, n node.Node, _ bool) error {
	return o.toBMC(ctx, n, func(*Machine) {})
}

// Console returns no address.
func (o Obliging) Console(context.Context, node.Node) (map[string]any, error) { return nil, nil }

// VendorMethods returns one slow method.
func (o Obliging) VendorMethods() []node.VendorMethod {
	return []node.VendorMethod{{Name: "slow", HTTPMethods: []string{"POST"}, Async: true}}
}

// CheckVendor accepts all arguments.
func (o Obliging) CheckVendor(context.Context, node.Node, string, map[string]any) error { return nil }

// CallVendor asks the BMC, which may fail.
func (o Obliging) CallVendor(ctx context.Context, n node.Node, _ string, _ map[string]any) (any, error) {
	return nil, o.toBMC(ctx, n, func(*Machine) {})
}
