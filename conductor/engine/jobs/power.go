package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// How often a BMC is asked whether the machine is on or off yet: ever less often
// the longer the machine may take, since a BMC does one thing at a time.
const (
	powerPollFirst = 100 * time.Millisecond
	powerPollMost  = time.Second // or this part of the whole time:
	powerPollPart  = 60
)

// power brings the machine to a power state. On and off are asked for only when the machine
// is not there yet, so doing it twice is harmless; a reset after a crash is sent again,
// since no BMC reports whether one has happened.
func (j *job) power(ctx context.Context) (any, error) {
	a := plan.PowerArgs{Target: powerTarget[j.effect.Name], TimeoutSeconds: plan.PowerTimeoutOf(j.n, j.Settings).Seconds()}
	if err := j.args(&a); err != nil {
		return nil, err
	}
	want := plan.PowerAfter(a.Target)
	if hand, ok := j.bmc.(core.ByHand); ok {
		return nil, j.byHand(ctx, hand, a)
	}
	if a.Target == node.PowerOn || want == node.PowerOff {
		there, err := j.powerBecomes(ctx, want, core.Seconds(a.GraceSeconds))
		if err != nil || there {
			return nil, err
		}
	}
	var failed any
	if a.GraceSeconds > 0 {
		failed = j.stayedOn(ctx, core.Seconds(a.GraceSeconds))
	}
	j.stage(want)
	if want == node.PowerOn {
		j.aimAgain(ctx)
	}
	call, cancel := context.WithTimeout(ctx, j.Patience(j.n).Call)
	defer cancel()
	if err := j.bmc.SetPower(call, j.n, a.Target); err != nil {
		return nil, err
	}
	j.leave() // an operating system may take ten minutes to shut down
	there, err := j.powerBecomes(ctx, want, core.Seconds(a.TimeoutSeconds))
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, node.Refuse(node.Conflict, "the BMC accepted %q, but the machine was not %q within %s", a.Target, want,
			core.Seconds(a.TimeoutSeconds))
	}
	return failed, nil
}

// stage records where a boot begins or ends. A power change that an operator asks for is told as
// such.
func (j *job) stage(want node.PowerState) {
	requested := j.effect.Name == "power.request"
	switch {
	case want == node.PowerOn && requested:
		j.Memory.Stage(j.n.UUID, core.BootStage{Name: "power on", Detail: core.ByRequest, At: j.Now()}, true)
	case want == node.PowerOn:
		j.Memory.Stage(j.n.UUID, core.BootStage{Name: "power on", At: j.Now()}, true)
	case requested:
		j.Memory.SwitchedOff(j.n.UUID, j.Now())
	}
}

// aimAgain sets the boot device of a BMC that keeps it for one boot only. Where that fails
// the machine starts by its own order.
func (j *job) aimAgain(ctx context.Context) {
	device := plan.OnceDevice(j.n)
	if device == "" {
		return
	}
	if err := j.callBMC(ctx, func(ctx context.Context) error {
		return j.bmc.SetBootDevice(ctx, j.n, device, false)
	}); err != nil {
		j.Log.Warn("boot device not set again, the machine starts by its own order", "node", j.n.UUID, "device", device,
			"err", err)
	}
}

var powerTarget = map[string]node.PowerState{
	"power.power_on":  node.PowerOn,
	"power.power_off": node.PowerOff,
	"power.reboot":    node.Rebooting,
}

// powerBecomes asks at least once, and again until the machine is as wanted
// or the time is over.
func (j *job) powerBecomes(ctx context.Context, want node.PowerState, within time.Duration) (bool, error) {
	end := j.Now().Add(within)
	for wait := powerPollFirst; ; wait = min(2*wait, max(powerPollMost, within/powerPollPart)) {
		call, cancel := context.WithTimeout(ctx, j.Patience(j.n).Call)
		is, err := j.Vitals.ReadVitals(call, j.bmc, j.n)
		cancel()
		if err != nil {
			return false, fmt.Errorf("read the power state: %w", err)
		}
		if is.Power == want {
			return true, nil
		}
		if !j.Now().Before(end) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(wait):
		}
	}
}
