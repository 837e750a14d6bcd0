package hardware

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Indicators lists the lights of a machine.
func (e *Hardware) Indicators(ctx context.Context, ref string) ([]node.Indicator, error) {
	n, bmc, err := find[core.Indicators](ctx, e, ref, "management", "get_supported_indicators")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, e.Patience(n).Call)
	defer cancel()
	all, err := bmc.Indicators(ctx, n)
	return all, core.BmcFault(err)
}

// IndicatorState returns the state of a light: on, off, blinking or unknown.
func (e *Hardware) IndicatorState(ctx context.Context, ref, component, name string) (string, error) {
	n, bmc, err := find[core.Indicators](ctx, e, ref, "management", "get_indicator_state")
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, e.Patience(n).Call)
	defer cancel()
	state, err := bmc.IndicatorState(ctx, n, component, name)
	return state, core.BmcFault(err)
}

// SetIndicatorState makes a light show something.
func (e *Hardware) SetIndicatorState(ctx context.Context, ref, component, name, state string) error {
	n, bmc, err := findFree[core.Indicators](ctx, e, ref, "management", "set_indicator_state")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, e.Patience(n).Call)
	defer cancel()
	return core.BmcFault(bmc.SetIndicatorState(ctx, n, component, name, state))
}
