package jobs

import (
	"context"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// handPoll is how often a machine without a BMC is looked after while a person is asked to switch it.
const handPoll = time.Second

// byHand asks a person for a power change, and waits until it is confirmed. Some changes need no confirmation: a
// machine that boots from the network is on, and a machine that its agent switched off is off. Once the wait ends, for
// any reason, the request is withdrawn.
func (j *job) byHand(ctx context.Context, hand core.ByHand, a plan.PowerArgs) error {
	start := j.Now()
	want := plan.PowerAfter(a.Target)
	if want == node.PowerOff && a.GraceSeconds > 0 && j.agentGoes(ctx, core.Seconds(a.GraceSeconds)) {
		a.GraceSeconds = 0
		if err := j.bmc.SetPower(ctx, j.n, a.Target); err != nil || hand.Awaited(j.n.UUID) == "" {
			return err
		}
		j.Log.Info("the machine is taken for off: its agent was asked to switch it off, and is silent", "node", j.n.UUID)
		return hand.Confirm(j.n, want)
	}
	if want == node.PowerOn && j.effect.Name == "power.request" {
		j.Memory.Stage(j.n.UUID, core.BootStage{Name: "power on", At: start}, true)
	}
	if err := j.bmc.SetPower(ctx, j.n, a.Target); err != nil {
		return err
	}
	j.Log.Info("a person is asked to switch the machine", "node", j.n.UUID, "target", a.Target)
	j.leave()
	end := start.Add(core.Seconds(a.TimeoutSeconds))
	for hand.Awaited(j.n.UUID) != "" {
		if want == node.PowerOn && j.Memory.BootedSince(j.n.UUID, start) {
			return hand.Confirm(j.n, want)
		}
		if !j.Now().Before(end) {
			hand.Withdraw(j.n.UUID)
			return node.Refuse(node.Conflict, "no person confirmed within %s that the machine of node %s is %q: switch it, "+
				"then ask again, and confirm with: ferrite node confirm %s %s", core.Seconds(a.TimeoutSeconds), j.n.UUID, want,
				want, j.n.UUID)
		}
		select {
		case <-ctx.Done():
			hand.Withdraw(j.n.UUID)
			return ctx.Err()
		case <-time.After(handPoll):
		}
	}
	return nil
}

// agentGoes reports whether the agent, which was asked to switch its machine off, stops to answer
// within a time.
func (j *job) agentGoes(ctx context.Context, within time.Duration) bool {
	for end := j.Now().Add(within); ; {
		call, cancel := context.WithTimeout(ctx, agentCall)
		_, err := j.Agents.Commands(call, j.n)
		cancel()
		if err != nil && ctx.Err() == nil {
			return true
		}
		if !j.Now().Before(end) || ctx.Err() != nil {
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(handPoll):
		}
	}
}
