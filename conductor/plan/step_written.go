package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// CheckTemplate refuses a deploy template with steps that no node could do. offers are the steps of all drivers
// together, limit is the time limit of one step. The steps of agents are not known.
func CheckTemplate(t node.DeployTemplate, offers []node.StepOffer, limit time.Duration) error {
	for _, s := range t.Steps {
		if s.Priority == 0 { // it only takes a step away
			continue
		}
		if err := checkWritten(s, offers, limit, node.DeploySteps); err != nil {
			return node.Refuse(node.Invalid, "Deploy template %s: %v", t.Name, err)
		}
	}
	return nil
}

// CheckRunbook refuses a runbook with steps that no node could do when it is cleaned or
// serviced with it.
func CheckRunbook(r node.Runbook, offers []node.StepOffer, limit time.Duration) error {
	for _, s := range r.Steps {
		if err := checkWritten(s.Step, offers, limit, node.CleanSteps, node.ServiceSteps); err != nil {
			return node.Refuse(node.Invalid, "Runbook %s: %v", r.Name, err)
		}
	}
	return nil
}

// checkWritten refuses a step unless one driver can do it in one of the frameworks.
func checkWritten(s node.Step, offers []node.StepOffer, limit time.Duration, frameworks ...node.Framework) error {
	if reserved[s.Step] {
		return checkReserved(node.Node{}, s, limit)
	}
	var first error
	var names []string
	for _, o := range offers {
		if !slices.ContainsFunc(frameworks, func(fw node.Framework) bool { _, ok := o.Priority[fw]; return ok }) {
			continue
		}
		name := o.Interface + "." + o.Step
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		if name != s.String() {
			continue
		}
		row := StepInfo{Source: ByBMC, Args: o.Args}
		if slices.Contains(agentInterfaces, s.Interface) { // an agent's step of that name may take more
			row.Source = ByAgent
		}
		err := checkArgs(row, s)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	if first != nil || slices.Contains(agentInterfaces, s.Interface) {
		return first
	}
	return notWritten(s, names, frameworks)
}

// notWritten is the error of a step that no driver has.
func notWritten(s node.Step, names []string, frameworks []node.Framework) error {
	meant := ""
	if near := nodeapi.Closest(s.String(), names); near != "" {
		meant = fmt.Sprintf(" (did you mean %s?)", near)
	}
	words := make([]string, len(frameworks))
	for i, fw := range frameworks {
		words[i] = string(fw)
	}
	slices.Sort(names)
	has := "none"
	if len(names) > 0 {
		has = strings.Join(names, ", ")
	}
	return fmt.Errorf("step %s is no %s step of any driver that is enabled%s; they have: %s", s,
		strings.Join(words, " or "), meant, has)
}
