package ipmi

import (
	"context"
	"fmt"
	"time"

	"github.com/bougou/go-ipmi/pkg/command/chassis"
	"github.com/bougou/go-ipmi/pkg/types"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// PowerState reads whether the machine is on.
func (d *Driver) PowerState(ctx context.Context, n node.Node) (p node.PowerState, err error) {
	err = d.call(ctx, n, "read the power state", func(ctx context.Context, s *session) error {
		on, err := s.isOn(ctx)
		p = node.PowerOff
		if on {
			p = node.PowerOn
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return p, nil
}

func (s *session) isOn(ctx context.Context) (bool, error) {
	status, err := ask(ctx, s, types.CommandGetChassisStatus, s.client.GetChassisStatus)
	if err != nil {
		return false, err
	}
	return status.PowerIsOn, nil
}

// button is how a power target is reached.
type button struct {
	whenOff, whenOn []chassis.ChassisControl // the first the BMC takes; none for nothing to do
	thenOn          bool                     // wait for the machine to go off, and turn it on
}

var buttons = map[node.PowerState]button{
	node.PowerOn:      {whenOff: []chassis.ChassisControl{chassis.ChassisControlPowerUp}},
	node.PowerOff:     {whenOn: []chassis.ChassisControl{chassis.ChassisControlPowerDown}},
	node.SoftPowerOff: {whenOn: []chassis.ChassisControl{chassis.ChassisControlSoftShutdown}},
	node.Rebooting: {
		whenOff: []chassis.ChassisControl{chassis.ChassisControlPowerUp},
		whenOn:  []chassis.ChassisControl{chassis.ChassisControlHardReset, chassis.ChassisControlPowerCycle},
	},
	node.SoftRebooting: { // IPMI knows no graceful restart
		whenOff: []chassis.ChassisControl{chassis.ChassisControlPowerUp},
		whenOn:  []chassis.ChassisControl{chassis.ChassisControlSoftShutdown},
		thenOn:  true,
	},
}

// SetPower presses the button for target and returns once the BMC has accepted it; a soft
// reboot, once the machine has gone off and is turned on again. A machine that is there
// already is left alone.
func (d *Driver) SetPower(ctx context.Context, n node.Node, target node.PowerState) error {
	b, ok := buttons[target]
	if !ok {
		return node.Refuse(node.Invalid, "ipmi cannot set the power state %q", target)
	}
	return d.call(ctx, n, fmt.Sprintf("set %q", target), func(ctx context.Context, s *session) error {
		on, err := s.isOn(ctx)
		if err != nil {
			return err
		}
		ways := b.whenOff
		if on {
			ways = b.whenOn
		}
		if err := s.press(ctx, target, ways); err != nil || !on || !b.thenOn {
			return err
		}
		if err := s.goesOff(ctx); err != nil {
			return err
		}
		return s.control(ctx, chassis.ChassisControlPowerUp)
	})
}

// press uses the first of the ways that the BMC takes.
func (s *session) press(ctx context.Context, target node.PowerState, ways []chassis.ChassisControl) error {
	var err error
	for _, way := range ways {
		if err = s.control(ctx, way); !unsupported(err) {
			return err
		}
	}
	if err != nil {
		return node.Refuse(node.Invalid, "the BMC cannot set %q: %v", target, err)
	}
	return nil
}

func (s *session) control(ctx context.Context, way chassis.ChassisControl) error {
	_, err := ask(ctx, s, types.CommandChassisControl, func(ctx context.Context) (*chassis.ChassisControlResponse, error) {
		return s.client.ChassisControl(ctx, way)
	})
	return err
}

// InjectNMI presses the button for a diagnostic interrupt (IPMI v2.0, table
// 28-4). It is sent again when it is not answered: a second one finds the
// system in its dump.
func (d *Driver) InjectNMI(ctx context.Context, n node.Node) error {
	return d.call(ctx, n, "inject an NMI", func(ctx context.Context, s *session) error {
		on, err := s.isOn(ctx)
		switch {
		case err != nil:
			return err
		case !on:
			return node.Refuse(node.Conflict, "node %s is powered off: there is nothing to interrupt", n.UUID)
		}
		return s.press(ctx, "an NMI", []chassis.ChassisControl{chassis.ChassisControlDiagnosticInterrupt})
	})
}

// powerPoll is how often a machine that is to shut down is asked after.
const powerPoll = 500 * time.Millisecond

// goesOff waits until the machine is off, for as long as the call may take.
func (s *session) goesOff(ctx context.Context) error {
	tick := time.NewTicker(powerPoll)
	defer tick.Stop()
	for {
		on, err := s.isOn(ctx)
		if err == nil && !on {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the machine was asked to shut down and has not yet: turn it off and on, or try again: %w",
				ctx.Err())
		}
	}
}
