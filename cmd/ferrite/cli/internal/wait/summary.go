package wait

import (
	"fmt"
	"strings"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
)

// outcomes are the ways in which the wait for a node ends, in the order of a summary.
var outcomes = []string{"done", "refused", "failed", "held", "not finished"}

// summary counts the outcomes of several nodes, and names the nodes that are not done:
// "58 done, 1 refused: g200, 1 failed: g7".
func summary(nodes []*Followed) string {
	names := map[string][]string{}
	for _, n := range nodes {
		names[n.outcome()] = append(names[n.outcome()], n.Name)
	}
	var parts []string
	for _, outcome := range outcomes {
		if found := names[outcome]; outcome == "done" {
			parts = append(parts, fmt.Sprintf("%d done", len(found)))
		} else if len(found) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s: %s", len(found), outcome, strings.Join(found, " ")))
		}
	}
	return strings.Join(parts, ", ")
}

func (n *Followed) outcome() string {
	switch code := exit.Of(n.err); {
	case n.err == nil:
		return "done"
	case code == exit.TimedOut || code == exit.Interrupted: // also where the request was cut off
		return "not finished"
	case n.refused:
		return "refused"
	case code == exit.Held:
		return "held"
	}
	return "failed"
}
