package jobs

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// finalizeRescue gives the password to the agent, which opens the machine to
// user rescue. The agent says no more after it.
func (j *job) finalizeRescue(ctx context.Context) (any, error) {
	hash, _ := j.n.InstanceInfo["hashed_rescue_password"].(string)
	if hash == "" {
		return nil, node.Refuse(node.Conflict, "node %s has no rescue password any more: request the rescue again", j.n.UUID)
	}
	res, err := j.send(ctx, "rescue.finalize_rescue", map[string]any{"rescue_password": hash, "hashed": true}, true)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return j.noAgentListens(err)
	case err != nil && j.effect.Attempt > 1:
		return nil, fmt.Errorf("it is not known whether user rescue may log in: try it, or request the "+
			"rescue again: %w", err)
	case err != nil:
		return nil, err
	case res.Status == agentapi.Running:
		return nil, fmt.Errorf("the agent has not finished finalize_rescue, which it answers at once otherwise")
	}
	return plan.Finalized{Result: res}, nil
}

// noAgentListens judges a machine that answers although no agent listens any more. An agent stops listening once it has
// carried out finalize_rescue, and cannot be asked again. If an earlier attempt may have reached it, only its answer
// was lost. The agent may also have died in the seconds between its call and the command, but that is unlikely. Then
// the machine would only refuse logins. The first attempt found the agent gone before it got the command: that does not
// count as an attempt that may have reached it.
func (j *job) noAgentListens(err error) (any, error) {
	if j.effect.Attempt == 1 {
		return nil, node.Refuse(node.Conflict, "the agent was gone before it was given the password: %v", err)
	}
	return plan.Finalized{Result: agentapi.Result{Name: "finalize_rescue", Status: agentapi.Succeeded},
		AnswerLost: true}, nil
}
