package redfish

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// powerStates are the power states with a meaning. Any other is unknown for now, like a PowerState that is null or
// missing (dsx-ai-factory/infra-controller#5418, device-management-toolkit/console#1051).
var powerStates = map[schemas.PowerState]node.PowerState{
	schemas.OnPowerState: node.PowerOn, schemas.OffPowerState: node.PowerOff,
}

// becoming are the words for a machine on its way.
var becoming = map[schemas.PowerState]node.PowerState{
	schemas.PoweringOnPowerState: node.PowerOn, schemas.PoweringOffPowerState: node.PowerOff,
}

// PowerState reads whether the machine is on.
func (d *Driver) PowerState(ctx context.Context, n node.Node) (node.PowerState, error) {
	v, err := d.Vitals(ctx, n)
	return v.Power, err
}

// button is how a power target is reached.
type button struct {
	whenOff, whenOn []schemas.ResetType // the first the BMC offers; none for nothing to do
	arrives         node.PowerState     // where a machine that is there already needs no reset; "" for nowhere
}

// softOff is a reset type that HPE Cray EX235a offers beside ForceOff; DSP0268 does not have it.
const softOff schemas.ResetType = "Off"

var buttons = map[node.PowerState]button{
	node.PowerOn: {
		whenOff: []schemas.ResetType{schemas.OnResetType, schemas.ForceOnResetType, schemas.PushPowerButtonResetType},
		arrives: node.PowerOn,
	},
	node.PowerOff: {
		whenOn:  []schemas.ResetType{schemas.ForceOffResetType},
		arrives: node.PowerOff,
	},
	node.SoftPowerOff: {
		whenOn:  []schemas.ResetType{schemas.GracefulShutdownResetType, schemas.PushPowerButtonResetType, softOff},
		arrives: node.PowerOff,
	},
	node.Rebooting: {
		whenOff: []schemas.ResetType{schemas.OnResetType, schemas.ForceOnResetType, schemas.PushPowerButtonResetType},
		whenOn:  []schemas.ResetType{schemas.ForceRestartResetType, schemas.PowerCycleResetType},
	},
	node.SoftRebooting: {
		whenOff: []schemas.ResetType{schemas.OnResetType, schemas.ForceOnResetType, schemas.PushPowerButtonResetType},
		whenOn:  []schemas.ResetType{schemas.GracefulRestartResetType},
	},
}

// SetPower presses the button for target and returns once the BMC has accepted
// it. A machine that is there already is left alone.
func (d *Driver) SetPower(ctx context.Context, n node.Node, target node.PowerState) error {
	b, ok := buttons[target]
	if !ok {
		return node.Refuse(node.Invalid, "redfish cannot set the power state %q", target)
	}
	return d.call(ctx, n, fmt.Sprintf("set %q", target), func(s *session) error {
		err := s.change(func(sys *schemas.ComputerSystem) error { return s.press(sys, b, target) })
		if _, missing := errors.AsType[noButton](err); missing && target == node.Rebooting {
			return s.offAndOn()
		}
		return s.unlessThere(b.arrives, err)
	})
}

// noButton refuses a target that the BMC offers no reset for.
type noButton struct{ error }

func (n noButton) Unwrap() error { return n.error }

// offAndOn restarts a machine with a BMC that offers no restart (HPE Cray EX235a: On, Off and ForceOff).
func (s *session) offAndOn() error {
	turn := func(to node.PowerState) error {
		return s.change(func(sys *schemas.ComputerSystem) error { return s.press(sys, buttons[to], to) })
	}
	if err := turn(node.PowerOff); err != nil {
		return err
	}
	for {
		sys, err := s.read()
		if err == nil && powerStates[sys.PowerState] == node.PowerOff {
			return turn(node.PowerOn)
		}
		if err == nil {
			err = s.pause()
		}
		if err != nil {
			return fmt.Errorf("wait for the machine to be off before it is switched on again: %w", err)
		}
	}
}

// unlessThere forgives a refusal if the machine has the wanted state. BMCs answer 400 or 409 to a request for the
// present state, which the machine may have reached since it was read.
func (s *session) unlessThere(want node.PowerState, refusal error) error {
	code := status(refusal)
	if want == "" || code != http.StatusBadRequest && code != http.StatusConflict {
		return refusal
	}
	sys, err := s.read()
	if err != nil || powerStates[sys.PowerState] != want && (want != node.PowerOn || becoming[sys.PowerState] != want) {
		return refusal
	}
	s.log.Info("the BMC refused a state that the machine has already", "power", want, "err", describe(refusal))
	return nil
}

func (s *session) press(sys *schemas.ComputerSystem, b button, target node.PowerState) error {
	ways := b.whenOn
	if sys.PowerState == schemas.OffPowerState {
		ways = b.whenOff
	}
	if powerStates[sys.PowerState] == "" && becoming[sys.PowerState] != node.PowerOn {
		ways = append(slices.Clone(b.whenOn), b.whenOff...) // it may be off by now
	}
	if len(ways) == 0 {
		return nil
	}
	if err := s.switchable(sys); err != nil {
		return err
	}
	s.wire.expect(reflect.TypeFor[schemas.ActionInfo]())
	offered, err := sys.GetSupportedResetTypes()
	if err != nil { // without a list the standard's resets are tried
		if err := s.optional("reset types", err); err != nil {
			return err
		}
	}
	for _, way := range ways {
		if len(offered) == 0 || slices.Contains(offered, way) {
			_, err := sys.Reset(way)
			return err
		}
	}
	return noButton{node.Refuse(node.Invalid, "the BMC cannot set %q: it takes %v for a reset, %v is wanted", target,
		offered, ways)}
}

// InjectNMI presses the button for a non-maskable interrupt.
func (d *Driver) InjectNMI(ctx context.Context, n node.Node) error {
	nmi := button{whenOn: []schemas.ResetType{schemas.NmiResetType}}
	return d.call(ctx, n, "inject an NMI", func(s *session) error {
		return s.change(func(sys *schemas.ComputerSystem) error {
			if sys.PowerState == schemas.OffPowerState {
				return node.Refuse(node.Conflict, "node %s is powered off: there is nothing to interrupt", n.UUID)
			}
			return s.press(sys, nmi, "an NMI")
		})
	})
}

// changes is how often a change is tried when others change the system between
// our reading and writing.
const changes = 3

// change reads the system and changes it. gofish sends the ETag it read along,
// where there is one; the answer 412 means that the system was changed in
// between (DSP0266, 6.5).
func (s *session) change(do func(sys *schemas.ComputerSystem) error) error {
	for try := 1; ; try++ {
		sys, err := s.read()
		if err != nil {
			return err
		}
		if err = do(sys); status(err) != http.StatusPreconditionFailed || try == changes {
			return err
		}
	}
}
