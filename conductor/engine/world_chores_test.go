package engine_test

import (
	"cmp"
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// obliging is the world's BMCs with all that an operator may ask of one beside
// runs. Their firmware takes a boot mode with the next start, and secure boot at
// once.
type obliging struct{ *world }

func (o obliging) BootMode(ctx context.Context, n node.Node) (mode string, err error) {
	err = o.toBMC(ctx, n, func(m *machine) { mode = cmp.Or(m.mode, "uefi") })
	return mode, err
}

func (o obliging) SetBootMode(ctx context.Context, n node.Node, mode string) error {
	return o.toBMC(ctx, n, func(m *machine) { m.nextMode = mode })
}

func (o obliging) SecureBoot(ctx context.Context, n node.Node) (on *bool, err error) {
	err = o.toBMC(ctx, n, func(m *machine) { is := m.secure; on = &is })
	return on, err
}

func (o obliging) SetSecureBoot(ctx context.Context, n node.Node, on bool) error {
	return o.toBMC(ctx, n, func(m *machine) { m.secure = on })
}

func (o obliging) ValidateConsole(node.Node) error { return nil }

func (o obliging) SetConsole(ctx context.Context, n node.Node, _ bool) error {
	return o.toBMC(ctx, n, func(*machine) {})
}

func (o obliging) Console(context.Context, node.Node) (map[string]any, error) { return nil, nil }

func (o obliging) VendorMethods() []node.VendorMethod {
	return []node.VendorMethod{{Name: "slow", HTTPMethods: []string{"POST"}, Async: true}}
}

func (o obliging) CheckVendor(context.Context, node.Node, string, map[string]any) error { return nil }

func (o obliging) CallVendor(ctx context.Context, n node.Node, _ string, _ map[string]any) (any, error) {
	return nil, o.toBMC(ctx, n, func(*machine) {})
}
