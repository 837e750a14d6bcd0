package qemu

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// ResetType is a button on the board, by its name in Redfish (Resource,
// ResetType).
type ResetType string

// The resets a machine here knows.
const (
	ResetOn               ResetType = "On"
	ResetForceOn          ResetType = "ForceOn"
	ResetForceOff         ResetType = "ForceOff"
	ResetGracefulShutdown ResetType = "GracefulShutdown"
	ResetGracefulRestart  ResetType = "GracefulRestart"
	ResetForceRestart     ResetType = "ForceRestart"
	ResetPowerCycle       ResetType = "PowerCycle"
	ResetNmi              ResetType = "Nmi"
	ResetPushPowerButton  ResetType = "PushPowerButton"
)

// ErrPoweredOff is the error for a request that a powered-off machine cannot carry out.
var ErrPoweredOff = errors.New("machine is powered off")

// reset is the effect of a button in either power state; nil in whenOff is ErrPoweredOff.
type reset struct {
	kind            ResetType
	whenOn, whenOff func(*Machine, context.Context) error
}

// resets is the table of buttons, in the order they are listed to clients.
// Like most boards, these answer a request for the state they are in with
// success.
func resets() []reset {
	return []reset{
		{ResetOn, nothing, (*Machine).powerOn},
		{ResetForceOn, nothing, (*Machine).powerOn},
		{ResetForceOff, forceOff, nothing},
		{ResetGracefulShutdown, pressButton(askedNothing), nothing},
		{ResetGracefulRestart, pressButton(askedRestart), nil},
		{ResetForceRestart, forceRestart, nil},
		{ResetPowerCycle, forceRestart, nil},
		{ResetNmi, injectNMI, nil},
		{ResetPushPowerButton, pressButton(askedNothing), (*Machine).powerOn},
	}
}

// ResetTypes lists every reset Reset accepts.
func ResetTypes() []ResetType {
	var kinds []ResetType
	for _, r := range resets() {
		kinds = append(kinds, r.kind)
	}
	return kinds
}

// Reset presses a button. Starting returns when the machine runs, turning off
// when it is gone; a graceful kind returns at once, and the guest may take
// its time or ignore it.
func (m *Machine) Reset(ctx context.Context, kind ResetType) error {
	table := resets()
	i := slices.IndexFunc(table, func(r reset) bool { return r.kind == kind })
	if i < 0 {
		return fmt.Errorf("reset type %q is not known", kind)
	}
	m.op.Lock()
	defer m.op.Unlock()
	m.settle()
	act := table[i].whenOn
	if m.current() == nil {
		act = table[i].whenOff
	}
	if act == nil {
		return fmt.Errorf("%s: %w", kind, ErrPoweredOff)
	}
	return act(m, ctx)
}

func nothing(*Machine, context.Context) error { return nil }

func forceOff(m *Machine, ctx context.Context) error {
	m.powerOff(ctx)
	return nil
}

func forceRestart(m *Machine, ctx context.Context) error {
	p := m.current()
	p.off(context.WithoutCancel(ctx))
	if err := m.powerOn(ctx); err != nil {
		m.wentOff(err)
		return err
	}
	return nil
}

// pressButton is a short press of the power button: an ACPI event the guest acts on, or not. The argument decides the
// next step if the guest then goes off.
func pressButton(what asked) func(*Machine, context.Context) error {
	return func(m *Machine, ctx context.Context) error {
		p := m.current()
		p.ask(what)
		return p.monitor.execute(ctx, "system_powerdown", nil)
	}
}

func injectNMI(m *Machine, ctx context.Context) error {
	return m.current().monitor.execute(ctx, "inject-nmi", nil)
}
