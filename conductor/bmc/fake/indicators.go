package fake

import (
	"context"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// indicators are the same as in Ironic's fake-hardware.
var indicators = []node.Indicator{
	{Component: "chassis", Name: "led-0", ReadOnly: true, States: []string{node.IndicatorOff, node.IndicatorOn}},
	{Component: "system", Name: "led", States: []string{node.IndicatorBlinking, node.IndicatorOff, node.IndicatorOn}},
}

// Indicators lists two lights.
func (d *Driver) Indicators(ctx context.Context, n node.Node) ([]node.Indicator, error) {
	return slices.Clone(indicators), d.call(ctx, "Indicators", n, func(*machine) {})
}

func find(component, name string) (node.Indicator, error) {
	for _, i := range indicators {
		if i.Component == component && i.Name == name {
			return i, nil
		}
	}
	return node.Indicator{}, node.Refuse(node.Invalid, "Invalid indicator %s of component %s specified.", name, component)
}

// IndicatorState answers the state that was set, and on before that.
func (d *Driver) IndicatorState(ctx context.Context, n node.Node, component, name string) (string, error) {
	if _, err := find(component, name); err != nil {
		return "", err
	}
	state := node.IndicatorOn
	err := d.call(ctx, "IndicatorState", n, func(m *machine) {
		if component == "system" && m.light != "" {
			state = m.light
		}
	})
	return state, err
}

// SetIndicatorState takes the states of the system's light; the chassis's light is read-only.
func (d *Driver) SetIndicatorState(ctx context.Context, n node.Node, component, name, state string) error {
	i, err := find(component, name)
	switch {
	case err != nil:
		return err
	case i.ReadOnly:
		return node.Refuse(node.Invalid, "The indicator %s of component %s can only be read", name, component)
	case !slices.Contains(i.States, state):
		return node.Refuse(node.Invalid, "The indicator %s of component %s shows one of %v, not %q", name, component,
			i.States, state)
	}
	return d.call(ctx, "SetIndicatorState", n, func(m *machine) { m.light = state })
}
