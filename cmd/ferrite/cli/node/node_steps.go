package node

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeSteps(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "steps NODE",
		Short: "Show the steps a machine has, with their arguments and priorities",
		Long: `Show the steps that can be requested with clean, service and deploy, or named in deploy
templates and runbooks. They come from the conductor, the BMC driver and the agent. The
conductor's can be requested under any interface. The agent's are those it listed last.

The column "runs in" names the activities that a step can be part of. A number is its
priority where it runs by itself: higher is earlier. Without a number it runs only on
request. Arguments with a * are required. -o wide shows the program that does a step,
whether it can be aborted, and the meaning of its arguments.`,
		Example: "  ferrite node steps m1\n  ferrite node steps m1 -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, steps, err := readSteps(s, cmd, args[0])
			if err != nil {
				return s.Older(err, "cannot list the steps of a machine")
			}
			if err := output.PrintAny(s, cmd.OutOrStdout(), raw, stepTable(steps, s.Wide())); err != nil {
				return err
			}
			if !s.People() {
				return nil
			}
			w := cmd.ErrOrStderr()
			_, err = fmt.Fprint(w, output.ScreenOf(w).Wrap(listedText(steps)))
			return err
		},
	}
}

// readSteps asks for the steps of a node, also as they came.
func readSteps(s *client.Session, cmd *cobra.Command, node string) (json.RawMessage, nodeapi.NodeSteps, error) {
	return client.Read[nodeapi.NodeSteps](cmd.Context(), s, client.FerritePath(node, "steps"))
}

// frameworks are the frameworks of a list of steps, in the order of a node's life.
func frameworks() []string { return []string{"verify", "clean", "deploy", "service"} }

// stepTable is a row for each step; wide has a column for each of its facts.
func stepTable(steps nodeapi.NodeSteps, wide bool) *output.Table {
	if !wide {
		t := output.NewTable("Step", "Runs in", "Arguments")
		for _, st := range steps.Steps {
			t.Row(st.Interface+"."+st.Step, runsIn(st.Priorities), argNames(st.Args))
		}
		return t
	}
	t := output.NewTable("Step", "By", "Verify", "Clean", "Deploy", "Service", "Abortable", "Arguments")
	for _, st := range steps.Steps {
		row := []string{st.Interface + "." + st.Step, st.Source}
		for _, fw := range frameworks() {
			priority := "-"
			if p, ok := st.Priorities[fw]; ok {
				priority = strconv.Itoa(p)
			}
			row = append(row, priority)
		}
		t.Row(append(row, map[bool]string{true: "yes", false: "no"}[st.Abortable], argsText(st.Args))...)
	}
	return t
}

// runsIn names the frameworks of a step, with its priority where it has one.
func runsIn(priorities map[string]int) string {
	var all []string
	for _, fw := range frameworks() {
		switch p, ok := priorities[fw]; {
		case ok && p > 0:
			all = append(all, fw+" "+strconv.Itoa(p))
		case ok:
			all = append(all, fw)
		}
	}
	return strings.Join(all, ", ")
}

// argNames are the arguments of a step without their descriptions.
func argNames(args map[string]nodeapi.StepArg) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(args)) {
		names = append(names, name+requiredMark(args[name]))
	}
	return strings.Join(names, ", ")
}

func requiredMark(arg nodeapi.StepArg) string {
	if arg.Required {
		return "*"
	}
	return ""
}

// argsText is a line for each argument.
func argsText(args map[string]nodeapi.StepArg) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(args)) {
		lines = append(lines, strings.TrimSuffix(name+requiredMark(args[name])+": "+args[name].Description, ": "))
	}
	return strings.Join(lines, "\n")
}

// listedText says for each framework whether the agent's steps are known.
func listedText(steps nodeapi.NodeSteps) string {
	var b strings.Builder
	for _, fw := range frameworks()[1:] {
		at, listed := steps.AgentListed[fw]
		switch open := steps.Open[fw]; {
		case !listed:
			fmt.Fprintf(&b, "%s: the agent has not listed its steps yet; it does so when it runs for the first time\n", fw)
		case len(open) > 0:
			fmt.Fprintf(&b, "%s: the agent listed its steps on %s; its ramdisk may have others by now\n", fw,
				output.Time(at))
		default:
			fmt.Fprintf(&b, "%s: the agent listed its steps on %s\n", fw, output.Time(at))
		}
	}
	return b.String()
}

// checkTyped refuses steps that a node does not have, before any node is asked to do
// them. The server checks the same and more; but it has begun with the first of several
// nodes before it is asked for the second. Servers that list no steps are left to
// refuse.
func checkTyped(s *client.Session, cmd *cobra.Command, nodes []string, framework string, typed []nodeapi.Step) error {
	for _, node := range nodes {
		_, steps, err := readSteps(s, cmd, node)
		if err != nil {
			continue // the verb says it better
		}
		for _, st := range typed {
			if err := checkOne(node, framework, steps, st); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkOne(node, framework string, steps nodeapi.NodeSteps, typed nodeapi.Step) error {
	if typed.ExecuteOnChildNodes || slices.Contains(steps.Open[framework], typed.Interface) {
		return nil
	}
	name := typed.Interface + "." + typed.Step
	var names []string
	for _, st := range steps.Steps {
		if _, ok := st.Priorities[framework]; !ok {
			continue
		}
		if st.Source == "conductor" && st.Step == typed.Step || st.Interface+"."+st.Step == name {
			return nil
		}
		names = append(names, st.Interface+"."+st.Step)
	}
	try := "see: ferrite node steps " + node
	if near := nodeapi.Closest(name, names); near != "" {
		try = fmt.Sprintf("did you mean %s? %s", near, try)
	}
	return exit.Is(exit.Refused,
		fmt.Errorf("%s has no %s step %s, and nothing was requested; %s", node, framework, name, try))
}
