package node

import (
	"slices"
	"strings"
)

// way is a verb, the states in which it can be requested, and the state at
// rest that it leads to; "" for verbs that only end a wait.
type way struct {
	verb string
	from []string
	to   string
}

// ways are the verbs of Ironic's state machine. Of two that lead to a state
// equally fast, the first is advised.
func ways() []way {
	return []way{
		{"abort", []string{"inspect wait", "clean wait", "clean hold", "wait call-back", "deploy hold", "service wait",
			"service hold", "service failed", "rescue wait"}, ""},
		{"manage", []string{"enroll", "available", "inspect failed", "clean failed", "adopt failed"}, "manageable"},
		{"provide", []string{"manageable"}, "available"},
		{"deploy", []string{"available", "deploy failed"}, "active"},
		{"inspect", []string{"manageable", "inspect failed"}, "manageable"},
		{"clean", []string{"manageable"}, "manageable"},
		{"unrescue", []string{"rescue", "rescue failed", "unrescue failed"}, "active"},
		{"rescue", []string{"active", "rescue", "rescue failed", "unrescue failed", "service failed"}, "rescue"},
		{"service", []string{"active", "service hold", "service failed"}, "active"},
		{"rebuild", []string{"active", "deploy failed", "error"}, "active"},
		{"undeploy", []string{"wait call-back", "deploy failed", "active", "service wait", "service failed",
			"rescue wait", "rescue", "rescue failed", "unrescue failed", "error"}, "available"},
		{"adopt", []string{"manageable", "adopt failed"}, "active"},
		{"unhold", []string{"clean hold", "deploy hold", "service hold"}, ""},
	}
}

// allowed reports whether a verb can be requested in a state.
func allowed(verb, state string) bool {
	return slices.ContainsFunc(ways(), func(w way) bool { return w.verb == verb && slices.Contains(w.from, state) })
}

// firstVerb is the first of the fewest verbs that lead from a state to one in
// which a verb can be requested; "" for none. Adoption is no step on the way:
// it is for machines that have a workload already.
func firstVerb(verb, state string) string {
	type step struct{ first, state string }
	seen := map[string]bool{state: true}
	for queue := []step{{"", state}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at.first != "" && allowed(verb, at.state) {
			return at.first
		}
		for _, w := range ways() {
			to := w.to
			if w.verb == "abort" && at.state == "service failed" { // the workload boots again
				to = "active"
			}
			if to == "" || seen[to] || w.verb == "adopt" && at.state != "adopt failed" || !slices.Contains(w.from, at.state) {
				continue
			}
			seen[to] = true
			first := at.first
			if first == "" {
				first = w.verb
			}
			queue = append(queue, step{first, to})
		}
	}
	return ""
}

// advice explains why a verb is not allowed in a state, as a text that follows the state's name. try is the command to
// run first, with NODE for the node's name.
func advice(verb, state string) (why, try string) {
	switch {
	case strings.HasSuffix(state, " hold"):
		return "", "ferrite node unhold NODE, or ferrite node abort NODE to end it"
	case allowed("abort", state) && state != "service failed":
		return ", which is not over", "ferrite node status NODE, or ferrite node abort NODE to end it"
	case strings.HasSuffix(state, "ing"):
		return ", which is not over", "ferrite node status NODE"
	}
	switch verb {
	case "abort":
		return ", in which there is nothing to abort", ""
	case "unhold":
		return ", in which nothing is held", ""
	case "unrescue":
		return ", not in rescue", ""
	case "undeploy":
		return ", in which nothing is deployed", ""
	}
	switch {
	case verb == "adopt" && allowed("undeploy", state):
		return ", so its workload is managed already", ""
	case verb == "clean" && state == "active":
		return "", "ferrite node service NODE to run steps and keep the workload, or " + command("undeploy")
	case verb == "deploy" && state == "active":
		return "", "ferrite node rebuild NODE to write the image again, or " + command("undeploy")
	}
	if slices.ContainsFunc(ways(), func(w way) bool { return w.verb == verb && w.to == state }) {
		return " already", ""
	}
	if first := firstVerb(verb, state); first != "" {
		return "", command(first)
	}
	return "", ""
}

// command is the command line of a verb, with a warning where data gets lost.
func command(verb string) string {
	text := "ferrite node " + verb + " NODE"
	switch verb {
	case "undeploy":
		text += ", which ends the workload and loses its data"
	case "abort":
		text += ", which boots the workload again"
	case "rebuild":
		text += ", which writes the image again and loses the data"
	}
	return text
}
