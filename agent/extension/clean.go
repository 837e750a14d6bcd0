package extension

import (
	"github.com/ferrite-metal/ferrite/agent/command"
	"github.com/ferrite-metal/ferrite/agent/steps"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// clean is get_clean_steps and execute_clean_step.
func (h *Host) clean() command.Extension {
	k := kind{
		name:    steps.Clean,
		listed:  func(s map[string][]agentapi.Step) agentapi.Steps { return agentapi.Steps{Clean: s} },
		version: func(p agentapi.StepParams) map[string]string { return p.CleanVersion },
		result: func(result, step []byte) agentapi.StepResult {
			return agentapi.StepResult{CleanResult: result, CleanStep: step}
		},
		errorType: "CleaningError", errorText: "Clean step failed",
	}
	return command.Extension{
		"get_clean_steps":    {Run: h.list(k)},
		"execute_clean_step": {Run: h.execute(k), Async: true},
	}
}
