package extension

import (
	"github.com/ferrite-metal/ferrite/agent/command"
	"github.com/ferrite-metal/ferrite/agent/steps"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// service is get_service_steps and execute_service_step.
func (h *Host) service() command.Extension {
	k := kind{
		name:    steps.Service,
		listed:  func(s map[string][]agentapi.Step) agentapi.Steps { return agentapi.Steps{Service: s} },
		version: func(p agentapi.StepParams) map[string]string { return p.ServiceVersion },
		result: func(result, step []byte) agentapi.StepResult {
			return agentapi.StepResult{ServiceResult: result, ServiceStep: step}
		},
		errorType: "ServicingError", errorText: "Service step failed",
	}
	return command.Extension{
		"get_service_steps":    {Run: h.list(k)},
		"execute_service_step": {Run: h.execute(k), Async: true},
	}
}
