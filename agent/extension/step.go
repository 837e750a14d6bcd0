package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/ferrite-metal/ferrite/agent/command"
	"github.com/ferrite-metal/ferrite/agent/steps"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// kind distinguishes the step commands of cleaning, deploying and servicing.
type kind struct {
	name                 steps.Kind
	listed               func(map[string][]agentapi.Step) agentapi.Steps
	version              func(agentapi.StepParams) map[string]string
	result               func(result, step []byte) agentapi.StepResult
	errorType, errorText string
}

// list answers get_<kind>_steps.
func (h *Host) list(k kind) command.Func {
	return func(ctx context.Context, params json.RawMessage) (any, error) {
		p, err := read[struct {
			Node agentapi.CommandNode `json:"node"`
		}](params)
		if err != nil {
			return nil, err
		}
		h.SetNode(p.Node)
		list, err := h.Machine.List(ctx, k.name, p.Node)
		if err != nil {
			return nil, err
		}
		answer := k.listed(list)
		answer.Versions, err = h.Machine.Versions()
		return answer, err
	}
}

// execute answers execute_<kind>_step: the step's result beside the step,
// echoed as it came.
func (h *Host) execute(k kind) command.Func {
	return func(ctx context.Context, params json.RawMessage) (any, error) {
		p, err := read[agentapi.StepParams](params)
		if err != nil {
			return nil, err
		}
		step, err := p.Parsed()
		if err != nil {
			return nil, command.InvalidParams(err)
		}
		versions, err := h.Machine.Versions()
		if err != nil {
			return nil, err
		}
		if want := k.version(p); want != nil && !maps.Equal(want, versions) {
			// Ironic knows this one status for all kinds of steps.
			return nil, command.VersionMismatch(agentapi.CleanVersionMismatch,
				fmt.Sprintf("the step was planned for %v, this agent is %v", want, versions))
		}
		h.SetNode(p.Node)
		facts, err := read[map[string]any](params)
		if err != nil {
			return nil, err
		}
		value, err := steps.Execute(ctx, h.Machine, k.name, steps.Request{Step: step, Node: p.Node, Facts: facts})
		if err != nil {
			err = named(err, k, step)
		}
		if err != nil && value == nil {
			return nil, err
		}
		raw, fault := json.Marshal(wrapText(value))
		if fault != nil {
			return nil, errors.Join(err, fmt.Errorf("result of %s: %w", step.Step, fault))
		}
		return k.result(raw, p.Step), err
	}
}

// named makes sure that an error says which step it was and has a type.
func named(err error, k kind, s agentapi.Step) error {
	var ce *agentapi.CommandError
	if errors.As(err, &ce) {
		return err
	}
	return agentapi.NewCommandError(k.errorType, k.errorText, fmt.Sprintf("%s step %s: %v", k.name, s.Step, err))
}

// wrapText puts a text into an object, as ironic-python-agent reports texts.
func wrapText(v any) any {
	if s, ok := v.(string); ok {
		return map[string]string{"result": s}
	}
	return v
}
