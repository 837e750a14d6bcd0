package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// collectLogs asks an agent for its logs. It never fails: the run has failed already, for another reason.
func (j *job) collectLogs(ctx context.Context) (any, error) {
	kept, err := j.logsOfAgent(ctx)
	if err != nil {
		j.Log.Info("the agent's logs are not collected", "node", j.n.UUID, "err", err)
		return plan.ChoreDone{Note: fmt.Sprintf("the agent's logs could not be collected: %v", err)}, nil
	}
	return plan.ChoreDone{Note: "the agent's logs were collected, and are the node's log of this boot: " + kept}, nil
}

func (j *job) logsOfAgent(ctx context.Context) (kept string, err error) {
	if j.n.Agent.URL == "" {
		return "", errors.New("its boot is over")
	}
	res, err := j.send(ctx, "log.collect_system_logs", map[string]any{}, true)
	if err != nil {
		return "", err
	}
	if res.Status != agentapi.Succeeded {
		return "", errors.New(errorText(res))
	}
	var logs agentapi.SystemLogs
	if err := json.Unmarshal(res.Result, &logs); err != nil {
		return "", fmt.Errorf("its answer: %w", err)
	}
	return j.BootLogs.Collect(j.n.UUID, node.BootName(j.n.Agent.Token), logs.SystemLogs)
}
