package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// framework is the framework of the steps that a request may list; "" for verbs without steps.
func (r Request) framework() node.Framework {
	switch r.Verb { //nolint:exhaustive // the others have no steps
	case node.Clean:
		return node.CleanSteps
	case node.Service:
		return node.ServiceSteps
	case node.Deploy, node.Rebuild:
		return node.DeploySteps
	}
	return ""
}

// stepsOffered refuses steps that the node cannot do, before it leaves its state: a
// machine must not go down for a step with a typing error. An agent's steps count as
// unknown until our agent has listed them.
func stepsOffered(d *decision, r Request) error {
	fw := r.framework()
	table := StepsOf(d.n, d.f.Offers, d.f.HardwareReport.AgentSteps, d.f.Settings)
	return checkSteps(d.n, table, fw, d.asked(string(fw), r), !r.noRamdisk() && !leftAlone(d.n))
}

// CheckTemplates refuses deploy templates that the instance's traits name, if the node cannot do one of their steps.
func CheckTemplates(n node.Node, table StepTable, templates []node.DeployTemplate) error {
	d := &decision{n: n, f: Facts{Templates: templates}}
	return checkSteps(n, table, node.DeploySteps, d.asked("deploy", Request{Verb: node.Deploy}), !leftAlone(n))
}

// checkSteps refuses the first step that the node cannot do; agent says whether an agent will run.
func checkSteps(n node.Node, table StepTable, fw node.Framework, steps []node.Step, agent bool) error {
	if fw == node.DeploySteps && n.DeployInterface() == "ramdisk" { // nothing of that runs in an agent
		agent = false
	}
	for _, s := range steps {
		if fw == node.DeploySteps && s.Priority == 0 { // it only takes a step away
			continue
		}
		if err := checkStep(n, table, fw, s, agent); err != nil {
			return err
		}
	}
	return nil
}

// checkStep refuses one step; agent says whether an agent will run.
func checkStep(n node.Node, table StepTable, fw node.Framework, s node.Step, agent bool) error {
	switch {
	case fw == node.ServiceSteps && wipes(s):
		return node.Refuse(node.Invalid,
			"step %s cannot be a service step of node %s: it erases, and the node has a workload; undeploy it first, then "+
				"clean it with that step", named(s), n.UUID)
	case s.OnChildren: // the children find out
		return nil
	case reattaches(fw, s):
		return checkReattach(n, s)
	case reserved[s.Step]:
		return checkReserved(n, s, table.limit)
	}
	row, ok := table.find(fw, s, agent)
	switch {
	case !ok && agent && slices.Contains(table.Open[fw], s.Interface):
		row.Source = ByAgent // whether it has the step is found out once it runs, as in Ironic
	case !ok && table.refused[s.String()] != "":
		return node.Refuse(node.Invalid, "Cannot %s node %s: step %s is refused: %s", fw, n.UUID, named(s),
			table.refused[s.String()])
	case !ok:
		return node.Refuse(node.Invalid, "%s%s", notOffered(n, fw, s, table.names(fw, agent)),
			table.relisting(n, fw, s, agent))
	}
	if fw == node.DeploySteps && row.Source == ByAgent && agentDeploy(n) {
		if err := checkPlace(s); err != nil {
			return node.Refuse(node.Invalid, "node %s cannot be deployed: %v", n.UUID, err)
		}
	}
	if err := checkArgs(row, s); err != nil {
		return node.Refuse(node.Invalid, "Cannot %s node %s: %v", fw, n.UUID, err)
	}
	return nil
}

// wipes reports whether a step destroys the data of disks or firmware, and is for nodes without a workload only.
func wipes(s node.Step) bool { return strings.HasPrefix(s.Step, "erase_") }

// relisting returns the time of the agent's list of steps, and how to list them anew: the ramdisk may be another one by
// now.
func (t StepTable) relisting(n node.Node, fw node.Framework, s node.Step, agent bool) string {
	at, listed := t.Listed[fw]
	if !agent || !listed || !slices.Contains(agentInterfaces, s.Interface) || fw == node.DeploySteps {
		return ""
	}
	return fmt.Sprintf(". Its agent listed these on %s; if its ramdisk was changed since, have them listed anew: "+
		"ferrite node %s %s --step deploy.wait", at.UTC().Format("2006-01-02 15:04:05Z"), fw, n.UUID)
}

// notOffered is the error of a step without an executor, in Ironic's words, with the available steps.
func notOffered(n node.Node, fw node.Framework, s node.Step, names []string) string {
	from := ""
	if s.From != "" {
		from = " of " + s.From
	}
	return fmt.Sprintf("Cannot %s node %s: node does not support this %s step%s: {'interface': '%s', 'step': '%s'}%s; it "+
		"has: %s", fw, n.UUID, fw, from, s.Interface, s.Step,
		nodeapi.DidYouMean(s.String(), names), strings.Join(names, ", "))
}

// checkArgs refuses a step that lacks a required argument, or has an argument that its driver does not know. An agent
// need not list all its arguments.
func checkArgs(row StepInfo, s node.Step) error {
	if err := missing(row.Args, s); err != nil {
		return err
	}
	if row.Source == ByAgent {
		return nil
	}
	known := slices.Sorted(maps.Keys(row.Args))
	for _, name := range slices.Sorted(maps.Keys(s.Args)) {
		if slices.Contains(known, name) {
			continue
		}
		if len(known) == 0 {
			return fmt.Errorf("step %s takes no arguments, but was given %s", named(s), name)
		}
		return fmt.Errorf("step %s has no argument %s; it has: %s", named(s), name, strings.Join(known, ", "))
	}
	return nil
}

// named is a step for people, with its template or runbook.
func named(s node.Step) string {
	if s.From == "" {
		return s.String()
	}
	return s.String() + " of " + s.From
}

// checkPlace refuses a step of the agent's at a place in a deploy where none runs.
func checkPlace(s node.Step) error {
	if s.Priority > atLeaving && s.Priority <= atRamdisk {
		return nil
	}
	when := "when the ramdisk is left already"
	if s.Priority > atRamdisk {
		when = "before the ramdisk is booted"
	}
	return fmt.Errorf("step %s with priority %d comes %s: give it %d to %d", named(s), s.Priority, when, atLeaving+1,
		atRamdisk-1)
}
