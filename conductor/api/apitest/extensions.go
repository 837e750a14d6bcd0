package apitest

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// fakeMachine has the features of Ironic's fake-hardware beyond power and boot: two indicators, a console without
// output, vendor methods; and no NMI.
type fakeMachine struct{ *BMC }

// realMachine has the features of the other hardware types: an NMI, secure boot, and one indicator.
type realMachine struct{ *BMC }

// Indicators lists the indicators of Ironic's fake-hardware.
func (fakeMachine) Indicators(context.Context, node.Node) ([]node.Indicator, error) {
	return []node.Indicator{
		{Component: "chassis", Name: "led-0", ReadOnly: true, States: []string{"off", "on"}},
		{Component: "system", Name: "led", States: []string{"blinking", "off", "on"}},
	}, nil
}

// IndicatorState is always on.
func (fakeMachine) IndicatorState(_ context.Context, _ node.Node, component, name string) (string, error) {
	if component != "system" || name != "led" {
		return "", node.Refuse(node.Invalid, "Invalid indicator %s specified.", name)
	}
	return node.IndicatorOn, nil
}

// SetIndicatorState takes anything.
func (fakeMachine) SetIndicatorState(context.Context, node.Node, string, string, string) error {
	return nil
}

// ValidateConsole finds nothing to complain of.
func (fakeMachine) ValidateConsole(node.Node) error { return nil }

// SetConsole opens nothing.
func (fakeMachine) SetConsole(context.Context, node.Node, bool) error { return nil }

// Console is nothing.
func (fakeMachine) Console(context.Context, node.Node) (map[string]any, error) {
	return map[string]any{}, nil
}

// VendorMethods lists the methods of Ironic's fake-hardware.
func (fakeMachine) VendorMethods() []node.VendorMethod {
	return []node.VendorMethod{
		{Name: "second_method", HTTPMethods: []string{"POST"}, Async: true},
		{Name: "third_method_sync", HTTPMethods: []string{"POST"}},
		{Name: "fourth_method_shared_lock", HTTPMethods: []string{"POST"}, Async: true, Shared: true},
	}
}

// CheckVendor wants the argument bar.
func (fakeMachine) CheckVendor(_ context.Context, _ node.Node, method string, args map[string]any) error {
	if args["bar"] == nil {
		return node.Refuse(node.Invalid, "Parameter 'bar' not passed to method '%s'.", method)
	}
	return nil
}

// CallVendor is true for meow, and fails for woe.
func (fakeMachine) CallVendor(_ context.Context, _ node.Node, _ string, args map[string]any) (any, error) {
	if args["bar"] == "woe" {
		return nil, node.Refuse(node.Conflict, "woe")
	}
	return args["bar"] == "meow", nil
}

// InjectNMI needs a machine that is on.
func (m realMachine) InjectNMI(ctx context.Context, n node.Node) error {
	p, err := m.PowerState(ctx, n)
	if err == nil && p == node.PowerOff {
		err = node.Refuse(node.Conflict, "node %s is powered off", n.UUID)
	}
	return err
}

// SecureBoot is not known.
func (realMachine) SecureBoot(context.Context, node.Node) (*bool, error) { return nil, nil }

// SetSecureBoot takes anything.
func (realMachine) SetSecureBoot(context.Context, node.Node, bool) error { return nil }
