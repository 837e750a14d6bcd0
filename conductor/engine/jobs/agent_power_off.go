package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// agentPowerOff lets the ramdisk shut down by itself. An agent that cannot be reached any more may have done so
// already: the next step reads the power state and cuts the power if needed.
func (j *job) agentPowerOff(ctx context.Context) (any, error) {
	res, err := j.send(ctx, "standby.power_off", map[string]any{}, false)
	var permanent interface{ Permanent() bool }
	switch {
	case errors.As(err, &permanent) && permanent.Permanent():
		return j.powerOffFailed("", err.Error()), nil
	case err != nil:
		j.Log.Info("the agent cannot be asked to power off; the BMC will", "node", j.n.UUID, "err", err)
		return nil, nil
	case res.Status == agentapi.Failed:
		return j.powerOffFailed(res.ID, errorText(res)), nil
	}
	return nil, nil
}

// stayedOn finds out why the machine is on after the time that the agent had to turn it off.
// A failure that agentPowerOff has recorded already is not recorded again.
func (j *job) stayedOn(ctx context.Context, grace time.Duration) any {
	ctx, cancel := context.WithTimeout(ctx, agentCall)
	defer cancel()
	all, err := j.Agents.Commands(ctx, j.n)
	if err != nil {
		return j.powerOffFailed("", fmt.Sprintf("the machine is on after %s: %v", grace, err))
	}
	slices.Reverse(all)
	at := slices.IndexFunc(all, func(r agentapi.Result) bool { return r.Name == "power_off" })
	switch {
	case at < 0 || all[at].ID == j.n.Agent.LastCommand:
		return nil
	case all[at].Status == agentapi.Failed:
		return j.powerOffFailed(all[at].ID, errorText(all[at]))
	}
	return j.powerOffFailed(all[at].ID,
		fmt.Sprintf("its status is %s, and the machine is on after %s", all[at].Status, grace))
}

// powerOffFailed logs that the BMC will power off instead of the agent, and returns the line for the node's history.
func (j *job) powerOffFailed(command, reason string) plan.PowerOffFailed {
	j.Log.Warn("the agent did not power off; the BMC will", "node", j.n.UUID, "reason", reason)
	return plan.PowerOffFailed{Command: command, Reason: reason}
}
