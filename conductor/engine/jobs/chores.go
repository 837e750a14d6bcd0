package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

func (j *job) changeBootMode(ctx context.Context) (any, error) {
	var r plan.BootModeRequest
	if err := j.args(&r); err != nil {
		return nil, err
	}
	return j.changeMode(ctx, r.Mode)
}

// changeMode sets the boot mode and returns once the firmware has taken it: with some it is
// a job of the BMC that needs a start of its own, which would use up a boot device that is
// for one boot.
func (j *job) changeMode(ctx context.Context, mode string) (any, error) {
	return j.change(ctx, func(ctx context.Context) error { return j.bmc.SetBootMode(ctx, j.n, mode) },
		func(ctx context.Context) (bool, error) {
			is, err := j.bmc.BootMode(ctx, j.n)
			return is == mode || is == "", err
		})
}

func (j *job) changeSecureBoot(ctx context.Context) (any, error) {
	var r plan.SecureBootRequest
	if err := j.args(&r); err != nil {
		return nil, err
	}
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

// How long firmware may take for a change it makes as the machine starts, and
// how often it is looked for (Ironic's boot_mode_config_timeout and interval,
// all but).
const (
	firmwarePoll = 10 * time.Second
)

// change sets something of the firmware. Where it has not come true at once,
// the machine is started anew, since some firmware takes it only then (Dell's,
// as a job of the BMC), and turned off again where it was off, also if it fails. Done again after
// a crash it begins anew: what has come true meanwhile costs no second start.
func (j *job) change(ctx context.Context, set func(context.Context) error,
	is func(context.Context) (bool, error)) (any, error) {
	if err := j.callBMC(ctx, set); err != nil {
		return nil, err
	}
	there, err := j.look(ctx, is)
	if err != nil || there {
		return plan.ChoreDone{}, err
	}
	if err := j.callBMC(ctx, func(ctx context.Context) error {
		return j.bmc.SetPower(ctx, j.n, node.Rebooting)
	}); err != nil {
		return nil, fmt.Errorf("start the machine for it: %w", err)
	}
	j.leave()
	err = j.firmwareTakes(ctx, is)
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

// firmwareTakes waits until a machine that was started has taken a change.
func (j *job) firmwareTakes(ctx context.Context, is func(context.Context) (bool, error)) error {
	limit := j.Patience(j.n).BootMode
	for end := j.Now().Add(limit); ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(firmwarePoll):
		}
		there, err := j.look(ctx, is)
		switch {
		case there:
			return nil
		case j.Now().Before(end): // a BMC may be silent while the firmware is at work
		case err != nil:
			return err
		default:
			return node.Refuse(node.Conflict,
				"the BMC accepted it and the machine was started, but the firmware had not taken it %s later: look into "+
					"the BMC's log, or raise --boot-mode-timeout", limit)
		}
	}
}

// offAgain turns the machine off and waits until it is: a step that turns it on next must
// not find it on still.
func (j *job) offAgain(ctx context.Context) error {
	if err := j.callBMC(ctx, func(ctx context.Context) error {
		return j.bmc.SetPower(ctx, j.n, node.PowerOff)
	}); err != nil {
		return err
	}
	limit := j.Patience(j.n).Power
	off, err := j.powerBecomes(ctx, node.PowerOff, limit)
	if err == nil && !off {
		err = fmt.Errorf("the machine was not off again within %s", limit)
	}
	return err
}

// callBMC does one call to the BMC, within the time one may take.
func (j *job) callBMC(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, j.Patience(j.n).Call)
	defer cancel()
	return call(ctx)
}

func (j *job) look(ctx context.Context, is func(context.Context) (bool, error)) (there bool, err error) {
	err = j.callBMC(ctx, func(ctx context.Context) error {
		there, err = is(ctx)
		return err
	})
	return there && err == nil, err
}
