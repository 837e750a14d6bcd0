package extension

import (
	"github.com/ferrite-metal/ferrite/agent/command"
	"github.com/ferrite-metal/ferrite/agent/steps"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// deploy is get_deploy_steps and execute_deploy_step.
func (h *Host) deploy() command.Extension {
	k := kind{
		name:    steps.Deploy,
		listed:  func(s map[string][]agentapi.Step) agentapi.Steps { return agentapi.Steps{Deploy: s} },
		version: func(p agentapi.StepParams) map[string]string { return p.DeployVersion },
		result: func(result, step []byte) agentapi.StepResult {
			return agentapi.StepResult{DeployResult: result, DeployStep: step}
		},
		errorType: "DeploymentError", errorText: "Deploy step failed",
	}
	return command.Extension{
		"get_deploy_steps":    {Run: h.list(k)},
		"execute_deploy_step": {Run: h.execute(k), Async: true},
	}
}
