package jobs

import (
	"context"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

func (j *job) changeBootMode(ctx context.Context, r plan.BootModeRequest) (any, error) {
	return j.changeMode(ctx, r.Mode)
}

// changeMode sets the boot mode and returns once the firmware has applied it. Some BMCs apply it by a job that needs a
// start of its own. That start would use up a boot device that is set for one boot.
func (j *job) changeMode(ctx context.Context, mode string) (any, error) {
	return j.change(ctx, func(ctx context.Context) error { return j.bmc.SetBootMode(ctx, j.n, mode) },
		func(ctx context.Context) (bool, error) {
			is, err := j.bmc.BootMode(ctx, j.n)
			return is == mode || is == "", err
		})
}

func (j *job) changeSecureBoot(ctx context.Context, r plan.SecureBootRequest) (any, error) {
	bmc, err := core.Extension[core.SecureBooter](j.n, j.bmc, "management", "set_secure_boot_state")
	if err != nil {
		return nil, err
	}
	return j.change(ctx, func(ctx context.Context) error { return bmc.SetSecureBoot(ctx, j.n, r.On) },
		func(ctx context.Context) (bool, error) {
			is, err := bmc.SecureBoot(ctx, j.n)
			return is == nil || *is == r.On, err
		})
}

// change sets something of the firmware. Where it has not come true at once, the machine is started anew, since some
// firmware takes it only then (Dell's, as a job of the BMC). A machine that was off is off again after it, and after a
// change that failed.
func (j *job) change(ctx context.Context, set func(context.Context) error,
	is func(context.Context) (bool, error)) (any, error) {
	if err := j.once(ctx, "set", set); err != nil {
		return nil, err
	}
	if !j.accepted("restart") {
		there, end := false, j.since("set").Add(j.Patience(j.n).Call)
		_, err := j.pollUntil(ctx, end, func(ctx context.Context) (read bool, err error) {
			there, err = is(ctx)
			return err == nil, err
		})
		if err != nil || there {
			return plan.ChoreDone{}, err
		}
		if err := j.once(ctx, "restart", func(ctx context.Context) error {
			return j.bmc.SetPower(ctx, j.n, node.Rebooting)
		}); err != nil {
			return nil, fmt.Errorf("start the machine for it: %w", err)
		}
	}
	j.leave()
	limit := j.Patience(j.n).BootMode
	there, err := j.pollUntil(ctx, j.since("restart").Add(limit), is) // a BMC may be silent while the firmware is at work
	if !there && err == nil {
		err = node.Refuse(node.Conflict,
			"the BMC accepted it and the machine was started, but the firmware had not taken it %s later: look into "+
				"the BMC's log, or raise --boot-mode-timeout", limit)
	}
	if j.n.PowerState == node.PowerOff && !j.n.DisablePowerOff && ctx.Err() == nil {
		if off := j.offAgain(ctx); err == nil {
			err = off
		} else if off != nil {
			err = fmt.Errorf("%w; the machine, which was off, is on: %v", err, off) //nolint:errorlint // the first decides
		}
	}
	if err != nil {
		return nil, err
	}
	return plan.ChoreDone{Restarted: true}, nil
}

// offAgain turns the machine off and waits until it is: a step that turns it on next must
// not find it on still.
func (j *job) offAgain(ctx context.Context) error {
	if err := j.once(ctx, "off again", func(ctx context.Context) error {
		return j.bmc.SetPower(ctx, j.n, node.PowerOff)
	}); err != nil {
		return fmt.Errorf("turn the machine off again: %w", err)
	}
	limit := j.Patience(j.n).Power
	off, err := j.pollUntil(ctx, j.since("off again").Add(limit), j.powerIs(node.PowerOff))
	if err == nil && !off {
		err = fmt.Errorf("the machine was not off again within %s", limit)
	}
	return err
}
