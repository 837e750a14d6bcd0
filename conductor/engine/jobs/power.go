package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// How often a BMC is asked whether the machine is on or off. The pause grows with the time that the machine may take,
// because a BMC handles one request at a time.
const (
	powerPollFirst = 100 * time.Millisecond
	powerPollMost  = time.Second // or this part of the whole time:
	powerPollPart  = 60
)

// power brings the machine to a power state. On and off are asked for only when the machine is not there yet. An
// operator's request ends by its limit, and nothing is done to the machine after that; a step of a run is tried as
// often as any effect.
func (j *job) power(ctx context.Context) (any, error) {
	a := plan.PowerArgs{Target: powerTarget[j.effect.Name], TimeoutSeconds: plan.PowerTimeoutOf(j.n, j.Settings).Seconds()}
	if err := j.args(&a); err != nil {
		return nil, err
	}
	if hand, ok := j.bmc.(core.ByHand); ok {
		return nil, j.byHand(ctx, hand, a)
	}
	if !requested(j.effect.Name) {
		return j.changePower(ctx, a)
	}
	j.until = j.Now().Add(core.Seconds(a.TimeoutSeconds))
	for try := 1; ; try++ {
		failed, err := j.changePower(ctx, a)
		if err == nil || ctx.Err() != nil || !core.Passing(err) || a.Once {
			return failed, err
		}
		j.leave()
		left := j.until.Sub(j.Now())
		if left < time.Second || answerLost(err) && !readable(a.Target) { // to press twice restarts twice
			return nil, j.late(a, err)
		}
		if err := j.noteFailure(ctx, err); err != nil {
			return nil, err
		}
		if err := pauseFor(ctx, min(core.Pause(try), left/2)); err != nil {
			return nil, err
		}
	}
}

// requested reports whether an operator has asked for a power change, or the power sync in the operator's place.
func requested(effect string) bool { return effect == "power.request" || effect == plan.ShutDown }

// readable reports whether the machine's power state shows that a target was reached: of a reset it never does.
func readable(target node.PowerState) bool {
	return target == node.PowerOn || plan.PowerAfter(target) == node.PowerOff
}

// answerLost reports an error of a request that may have reached the BMC.
func answerLost(err error) bool {
	var lost interface{ AnswerLost() bool }
	return errors.As(err, &lost) && lost.AnswerLost()
}

// changePower presses the button once, where that is needed, and reads until the machine is as wanted.
func (j *job) changePower(ctx context.Context, a plan.PowerArgs) (failed any, err error) {
	want, action := plan.PowerAfter(a.Target), string(a.Target)
	if j.lost(ctx, action, want) {
		delete(j.effect.Accepted, action)
	}
	if !j.accepted(action) {
		if readable(a.Target) {
			there, err := j.pollUntil(ctx, j.Now().Add(core.Seconds(a.GraceSeconds)), j.powerIs(want))
			if _, unknown := errors.AsType[*noState](err); there || err != nil && !unknown {
				return nil, err
			}
		}
		if a.GraceSeconds > 0 {
			failed = j.stayedOn(ctx, core.Seconds(a.GraceSeconds))
		}
		j.stage(want)
		if want == node.PowerOn {
			j.aimAgain(ctx)
		}
		if err := j.once(ctx, action, func(ctx context.Context) error {
			return j.bmc.SetPower(ctx, j.n, a.Target)
		}); err != nil {
			return nil, err
		}
	}
	j.leave() // an operating system may take ten minutes to shut down
	end := j.until
	if end.IsZero() {
		end = j.since(action).Add(core.Seconds(a.TimeoutSeconds))
	}
	return failed, j.arrives(ctx, a, end)
}

// lost reports that the BMC shows the contrary of a change that it accepted from an earlier conductor: a BMC that has
// restarted may have forgotten it. To ask again does no harm. Either the machine is off and should be on, so that
// nothing is reset, or it is on and should be off.
func (j *job) lost(ctx context.Context, action string, want node.PowerState) bool {
	if !j.accepted(action) || !j.effect.Accepted[action].Before(j.Started) {
		return false
	}
	there, err := j.look(ctx, j.powerIs(want))
	return err == nil && !there
}

// arrives waits until the machine has gone where an accepted change leads.
func (j *job) arrives(ctx context.Context, a plan.PowerArgs, end time.Time) error {
	want := plan.PowerAfter(a.Target)
	there, err := j.pollUntil(ctx, end, j.powerIs(want))
	odd, unknown := errors.AsType[*noState](err)
	switch {
	case there || unknown && odd.becomes == want: // large machines power on for minutes, and count as on (Ironic)
		return nil
	case err != nil && ctx.Err() == nil && requested(j.effect.Name):
		return j.late(a, err)
	case err != nil:
		return err
	}
	hint := "see its console and the BMC's log; where it takes longer, raise --power-timeout or driver_info " +
		"power_timeout"
	if a.Target == node.SoftPowerOff || a.Target == node.SoftRebooting {
		hint = "its operating system may not heed the power button: power off cuts the power"
	}
	return node.Refuse(node.Conflict, "the BMC accepted %q, but the machine was not %q within %s; %s", a.Target, want,
		core.Seconds(a.TimeoutSeconds), hint)
}

// late returns the error of a request at its limit: it names the action that was taken and the last reading.
func (j *job) late(a plan.PowerArgs, cause error) error {
	done := "nothing was done to the machine"
	if at := j.effect.Accepted[string(a.Target)]; !at.IsZero() {
		done = fmt.Sprintf("the BMC accepted it at %s, and has not reported the result", at.Format("15:04:05 MST"))
	} else if answerLost(cause) {
		done = "the BMC did not answer the request, and may carry it out all the same"
	}
	limit := core.Seconds(a.TimeoutSeconds)
	return &lateError{fmt.Sprintf("given up after %s of %s (--power-timeout, or the request's own): %s: %v",
		(limit - j.until.Sub(j.Now())).Round(time.Second), limit, done, cause), cause}
}

// stage records the beginning or end of a boot. A power change that an operator asked for is marked as such.
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

// aimAgain sets the boot device of a BMC that keeps it for one boot only. If that fails, the machine boots by its own
// order.
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
