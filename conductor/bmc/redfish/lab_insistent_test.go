package redfish_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// insistent repeats requests that a BMC refuses in passing, as the engine does.
type insistent struct{ *redfish.Driver }

// insist calls do until it succeeds, or fails for another reason than the moment.
func insist(do func() error) error {
	for end := time.Now().Add(50 * passingDelay()); ; time.Sleep(passingDelay() / 5) {
		err := do()
		var p interface{ Patience() bool }
		if err == nil || !errors.As(err, &p) || !p.Patience() || time.Now().After(end) {
			return err
		}
	}
}

func (p insistent) SetPower(ctx context.Context, n node.Node, target node.PowerState) error {
	return insist(func() error { return p.Driver.SetPower(ctx, n, target) })
}

func (p insistent) PowerState(ctx context.Context, n node.Node) (state node.PowerState, err error) {
	err = insist(func() error { state, err = p.Driver.PowerState(ctx, n); return err })
	return state, err
}

func (p insistent) SetBootDevice(ctx context.Context, n node.Node, device string, persistent bool) error {
	return insist(func() error { return p.Driver.SetBootDevice(ctx, n, device, persistent) })
}

func (p insistent) SetBootMode(ctx context.Context, n node.Node, mode string) error {
	return insist(func() error { return p.Driver.SetBootMode(ctx, n, mode) })
}

func (p insistent) BootMode(ctx context.Context, n node.Node) (mode string, err error) {
	err = insist(func() error { mode, err = p.Driver.BootMode(ctx, n); return err })
	return mode, err
}

func (p insistent) BootDevice(ctx context.Context, n node.Node) (device string, persistent bool, err error) {
	err = insist(func() error { device, persistent, err = p.Driver.BootDevice(ctx, n); return err })
	return device, persistent, err
}

func (p insistent) SetSecureBoot(ctx context.Context, n node.Node, on bool) error {
	return insist(func() error { return p.Driver.SetSecureBoot(ctx, n, on) })
}

func (p insistent) SecureBoot(ctx context.Context, n node.Node) (on *bool, err error) {
	err = insist(func() error { on, err = p.Driver.SecureBoot(ctx, n); return err })
	return on, err
}

func (p insistent) System(ctx context.Context, n node.Node) (s node.System, err error) {
	err = insist(func() error { s, err = p.Driver.System(ctx, n); return err })
	return s, err
}

func (p insistent) InjectNMI(ctx context.Context, n node.Node) error {
	return insist(func() error { return p.Driver.InjectNMI(ctx, n) })
}

func (p insistent) MediaSlots(ctx context.Context, n node.Node) (slots []node.MediaSlot, err error) {
	err = insist(func() error { slots, err = p.Driver.MediaSlots(ctx, n); return err })
	return slots, err
}

func (p insistent) AttachMedium(ctx context.Context, n node.Node, m node.Medium) error {
	return insist(func() error { return p.Driver.AttachMedium(ctx, n, m) })
}

func (p insistent) DetachMedia(ctx context.Context, n node.Node, devices []string) error {
	return insist(func() error { return p.Driver.DetachMedia(ctx, n, devices) })
}

func (p insistent) IndicatorState(ctx context.Context, n node.Node, part, name string) (state string, err error) {
	err = insist(func() error { state, err = p.Driver.IndicatorState(ctx, n, part, name); return err })
	return state, err
}

func (p insistent) SetIndicatorState(ctx context.Context, n node.Node, part, name, state string) error {
	return insist(func() error { return p.Driver.SetIndicatorState(ctx, n, part, name, state) })
}

// recorder keeps a check's reports, in place of the test that runs it.
type recorder struct {
	testing.TB
	reasons []string
	skipped bool
}

// run does a check to its end, or to its first fatal report.
func (r *recorder) run(check func()) {
	done := make(chan struct{})
	go func() { // a fatal report ends its goroutine
		defer close(done)
		check()
	}()
	<-done
}

func (r *recorder) Errorf(format string, args ...any) {
	r.reasons = append(r.reasons, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

// Skip ends a check of an ability that the driver lacks.
func (r *recorder) Skip(...any) {
	r.skipped = true
	runtime.Goexit()
}
