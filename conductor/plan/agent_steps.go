package plan

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Bounds of the kept part of an agent's list: an agent may send anything.
const (
	maxListing  = 64 << 10 // bytes as JSON; a longer list is not kept
	maxArgs     = 32       // of a step
	maxArgsText = 256      // bytes of an argument's description
)

// keepAgentSteps keeps an agent's list for people, and for the check of later requests.
func (d *decision) keepAgentSteps(fw node.Framework, agent byAgent, versions map[string]string) {
	report := d.f.HardwareReport
	if d.hardware != nil {
		report = *d.hardware
	}
	report.AgentSteps = maps.Clone(report.AgentSteps)
	if report.AgentSteps == nil {
		report.AgentSteps = map[node.Framework]node.AgentSteps{}
	}
	kept := node.AgentSteps{At: d.now, Versions: versions, Steps: listing(agent)}
	raw, err := json.Marshal(kept)
	if err != nil || len(raw) > maxListing {
		delete(report.AgentSteps, fw)
	} else {
		report.AgentSteps[fw] = kept
	}
	d.hardware = &report
}

// listing returns the steps of all managers. If two managers have a step with the same name, only the first manager by
// name counts: it runs the step.
func listing(agent byAgent) (all []node.AgentStep) {
	seen := map[string]bool{}
	for _, manager := range slices.Sorted(maps.Keys(agent)) {
		for _, s := range agent[manager] {
			name := s.Interface + "." + s.Step
			if seen[name] {
				continue
			}
			seen[name] = true
			all = append(all, node.AgentStep{Interface: nodeapi.Printable(s.Interface), Step: nodeapi.Printable(s.Step),
				Priority: s.Priority, Abortable: s.Abortable, Args: argsOf(s)})
		}
	}
	return all
}

// argsOf reads argsinfo, which ironic-python-agent's hardware managers write with
// description and required.
func argsOf(s agentapi.Step) map[string]node.StepArg {
	args := map[string]node.StepArg{}
	for _, name := range slices.Sorted(maps.Keys(s.ArgsInfo)) {
		if len(args) == maxArgs {
			break
		}
		info, _ := s.ArgsInfo[name].(map[string]any)
		text, _ := info["description"].(string)
		required, _ := info["required"].(bool)
		if len(text) > maxArgsText {
			text = text[:maxArgsText]
		}
		args[nodeapi.Printable(name)] = node.StepArg{Description: nodeapi.Printable(text), Required: required}
	}
	return args
}

// binding reports whether an agent's list of a framework is all that the agent has: it
// was our agent alone, and no ramdisk with other hardware managers has run since. A
// site's own hardware manager may have other steps with each build.
func binding(listed map[node.Framework]node.AgentSteps, fw node.Framework) bool {
	list, ok := listed[fw]
	if !ok || len(list.Versions) != 1 || list.Versions[ourManager] == "" {
		return false
	}
	for _, other := range listed {
		if other.At.After(list.At) && !maps.Equal(other.Versions, list.Versions) {
			return false
		}
	}
	return true
}
