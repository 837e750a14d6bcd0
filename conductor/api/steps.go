package api

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// stepList describes one of the three lists of steps that a verb may have.
type stepList struct {
	name     string
	since    int
	verbs    []node.Event
	required bool // the first of verbs cannot do without
	priority bool // each step has one; otherwise none may
	at       func(*plan.Request) *[]node.Step
}

func stepLists() []stepList {
	return []stepList{
		{"clean_steps", 15, []node.Event{node.Clean}, true, false, func(r *plan.Request) *[]node.Step {
			return &r.CleanSteps
		}},
		{"deploy_steps", 69, []node.Event{node.Deploy, node.Rebuild}, false, true,
			func(r *plan.Request) *[]node.Step { return &r.DeploySteps }},
		{"service_steps", 87, []node.Event{node.Service}, true, false, func(r *plan.Request) *[]node.Step {
			return &r.ServiceSteps
		}},
	}
}

// readSteps checks the lists of steps in the arguments of a verb.
func readSteps(c *rest.Call, v node.Event, a rest.Args, r *plan.Request) error {
	for _, l := range stepLists() {
		items, err := a.List(l.name)
		if err != nil {
			return err
		}
		ours := slices.Contains(l.verbs, v)
		switch {
		case ours && l.required && len(items) == 0 && a["runbook"] == nil:
			return rest.BadRequest(`"%s" is required when setting target provision state to %s`, l.name, v)
		case len(items) == 0:
			continue
		case !ours:
			return rest.BadRequest(`"%s" is only valid when setting target provision state to %s`, l.name, l.verbs[0])
		case c.Minor < l.since:
			return nodeapi.NewFault(406, "Request not acceptable. The minimal required API version should be %s",
				nodeapi.Version(l.since))
		}
		if *l.at(r), err = l.read(items); err != nil {
			return err
		}
	}
	return nil
}

// read checks all steps of a list and sorts them by their order. Steps without one come first, in their sequence.
func (l stepList) read(items []map[string]any) ([]node.Step, error) {
	ranked := make([]node.RunbookStep, len(items))
	for i, item := range items {
		s, err := readStep(item, l.priority)
		if err != nil {
			return nil, rest.BadRequest("Invalid %s: %v (step %d)", l.name, err, i+1)
		}
		ranked[i].Step = s
		if item["order"] == nil {
			continue
		}
		if ranked[i].Order, err = asRank(item["order"]); err != nil {
			return nil, rest.BadRequest("Invalid %s: %v (step %d)", l.name, err, i+1)
		}
	}
	slices.SortStableFunc(ranked, func(a, b node.RunbookStep) int { return a.Order - b.Order })
	steps := make([]node.Step, len(ranked))
	for i, s := range ranked {
		steps[i] = s.Step
	}
	return steps, nil
}

// readStep checks one step an operator wrote.
func readStep(item map[string]any, prioritised bool) (node.Step, error) {
	required := []string{"interface", "step"}
	if prioritised {
		required = append(required, "priority")
	}
	known := append([]string{"args", "order", "execute_on_child_nodes", "limit_child_node_execution"}, required...)
	for _, key := range rest.SortedKeys(item) {
		if !rest.Contains(known, key) {
			return node.Step{}, errors.New(rest.Additional(key))
		}
	}
	for _, key := range required {
		if item[key] == nil {
			return node.Step{}, fmt.Errorf("'%s' is a required property", key)
		}
	}
	var s node.Step
	var ok bool
	if s.Interface, ok = item["interface"].(string); !ok || !rest.Contains(nodeapi.StepInterfaces(), s.Interface) {
		return s, fmt.Errorf("%s is not one of %s", rest.Python(item["interface"]), nodeapi.StepInterfaces())
	}
	if s.Step, ok = item["step"].(string); !ok || s.Step == "" {
		return s, fmt.Errorf("%s is not a step's name", rest.Python(item["step"]))
	}
	if s.Args, ok = item["args"].(map[string]any); !ok && item["args"] != nil {
		return s, fmt.Errorf("%s is not of type 'object'", rest.Python(item["args"]))
	}
	if err := readChildren(item, &s); err != nil {
		return s, err
	}
	if !prioritised {
		return s, nil
	}
	p, ok := item["priority"].(float64)
	if !ok || p < 0 || p != float64(int(p)) {
		return s, fmt.Errorf("%s is not a priority: a whole number, 0 or more", rest.Python(item["priority"]))
	}
	s.Priority = int(p)
	return s, nil
}

// readChildren reads which child nodes a step is for.
func readChildren(item map[string]any, s *node.Step) error {
	var ok bool
	if s.OnChildren, ok = item["execute_on_child_nodes"].(bool); !ok && item["execute_on_child_nodes"] != nil {
		return fmt.Errorf("%s is not of type 'boolean'", rest.Python(item["execute_on_child_nodes"]))
	}
	list, ok := item["limit_child_node_execution"].([]any)
	if !ok && item["limit_child_node_execution"] != nil {
		return fmt.Errorf("%s is not of type 'array'", rest.Python(item["limit_child_node_execution"]))
	}
	for _, child := range list {
		name, ok := child.(string)
		if !ok || name == "" {
			return fmt.Errorf("%s does not name a child node", rest.Python(child))
		}
		s.Children = append(s.Children, name)
	}
	return nil
}
