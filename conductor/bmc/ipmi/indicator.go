package ipmi

import (
	"context"
	"slices"

	"github.com/bougou/go-ipmi/pkg/command/chassis"
	"github.com/bougou/go-ipmi/pkg/types"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// identify is the only indicator of IPMI: the chassis's identify light, lit until further notice or off.
var identify = node.Indicator{
	Component: "chassis", Name: "identify", States: []string{node.IndicatorOff, node.IndicatorOn},
}

func checkIndicator(n node.Node, component, name string) error {
	if component != identify.Component || name != identify.Name {
		return node.Refuse(node.Invalid, "Unknown indicator %s for component %s of node %s", name, component, n.UUID)
	}
	return nil
}

// Indicators lists the light of the chassis. That a BMC lacks it shows when it
// is set.
func (d *Driver) Indicators(_ context.Context, n node.Node) ([]node.Indicator, error) {
	return []node.Indicator{identify}, d.Validate(n)
}

// identifyStates are a BMC's states of the light (IPMI v2.0, table 28-3).
var identifyStates = map[chassis.ChassisIdentifyState]string{
	chassis.ChassisIdentifyStateOff:          node.IndicatorOff,
	chassis.ChassisIdentifyStateTemporaryOn:  node.IndicatorOn,
	chassis.ChassisIdentifyStateIndefiniteOn: node.IndicatorOn,
}

// IndicatorState reads the light; unknown where the BMC does not report it.
func (d *Driver) IndicatorState(ctx context.Context, n node.Node, component, name string) (string, error) {
	if err := checkIndicator(n, component, name); err != nil {
		return "", err
	}
	state := node.IndicatorUnknown
	err := d.call(ctx, n, "read the chassis' light", func(ctx context.Context, s *session) error {
		status, err := ask(ctx, s, types.CommandGetChassisStatus, s.client.GetChassisStatus)
		if err != nil || !status.ChassisIdentifySupported {
			return err
		}
		if light, ok := identifyStates[status.ChassisIdentifyState]; ok {
			state = light
		}
		return nil
	})
	return state, err
}

// SetIndicatorState turns the light on until further notice, or off. Asking
// twice does no harm.
func (d *Driver) SetIndicatorState(ctx context.Context, n node.Node, component, name, state string) error {
	if err := checkIndicator(n, component, name); err != nil {
		return err
	}
	if !slices.Contains(identify.States, state) {
		return node.Refuse(node.Invalid, "The indicator %s of component %s shows one of %v, not %q", name, component,
			identify.States, state)
	}
	return d.call(ctx, n, "turn the chassis' light "+state, func(ctx context.Context, s *session) error {
		_, err := ask(ctx, s, types.CommandChassisIdentify,
			func(ctx context.Context) (*chassis.ChassisIdentifyResponse, error) {
				return s.client.ChassisIdentify(ctx, 0, state == node.IndicatorOn)
			})
		if unsupported(err) {
			return node.Refuse(node.Invalid, "the BMC cannot turn the chassis' light %s: %v", state, err)
		}
		return err
	})
}
