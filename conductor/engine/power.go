package engine

import (
	"context"
	"time"

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

// power brings the machine to a power state. On and off are asked for only
// when the machine is not there yet, so doing it twice is harmless; a reset
// after a crash is sent again, since no BMC tells whether one has happened.
func (j *job) power(ctx context.Context) (any, error) {
	a := plan.PowerArgs{Target: powerTarget[j.effect.Name], TimeoutSeconds: j.Settings.PowerTimeout.Seconds()}
	if err := j.args(&a); err != nil {
		return nil, err
	}
	want := plan.PowerAfter(a.Target)
	if a.Target == node.PowerOn || want == node.PowerOff {
		there, err := j.powerBecomes(ctx, want, seconds(a.GraceSeconds))
		if err != nil || there {
			return nil, err
		}
	}
	var failed any
	if a.GraceSeconds > 0 {
		failed = j.stayedOn(ctx, seconds(a.GraceSeconds))
	}
	if want == node.PowerOn && j.effect.Name != "power.request" {
		j.memory.stage(j.n.UUID, BootStage{Name: "power on", At: j.Now()}, true)
	}
	call, cancel := context.WithTimeout(ctx, bmcCall)
	defer cancel()
	if err := j.bmc.SetPower(call, j.n, a.Target); err != nil {
		return nil, err
	}
	j.leave() // an operating system may take ten minutes to shut down
	there, err := j.powerBecomes(ctx, want, seconds(a.TimeoutSeconds))
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, node.Refuse(node.Conflict, "the BMC accepted %q, but the machine was not %q within %s", a.Target, want, seconds(a.TimeoutSeconds))
	}
	return failed, nil
}

var powerTarget = map[string]node.PowerState{
	"power.power_on":  node.PowerOn,
	"power.power_off": node.PowerOff,
	"power.reboot":    node.Rebooting,
}
