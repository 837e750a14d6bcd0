package node

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/caution"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodePower(s *client.Session) *cobra.Command {
	var commands []*cobra.Command
	for _, p := range []struct{ name, target, ends, short string }{
		{"on", "power on", "power on", "Switch a machine on"},
		{"off", "power off", "power off", "Switch a machine off at once"},
		{"reboot", "rebooting", "power on", "Switch a machine off and on again"},
		{"soft-off", "soft power off", "power off", "Ask the operating system to shut down"},
		{"soft-reboot", "soft rebooting", "power on", "Ask the operating system to reboot"},
	} {
		commands = append(commands, verb{name: p.name, power: true, goal: wait.PowerGoal(p.ends), short: p.short,
			care:  caution.Care{Force: "do it in the middle of an activity, such as a deploy, which then may fail"},
			flags: powerFlags(p.target)}.command(s))
	}
	return client.Group("power", "Switch machines on and off", "", append(commands, powerStatus(s))...)
}

func powerFlags(target string) bodyFlags {
	return func(s *client.Session, cmd *cobra.Command) body {
		limit := cmd.Flags().Duration("power-timeout", 0, "time limit; the conductor's default when left out")
		return func(cmd *cobra.Command, nodes []string) (any, error) {
			return nodeapi.Power{Target: target, Timeout: int(limit.Seconds())}, refuseAmid(s, cmd, nodes)
		}
	}
}

// refuseAmid refuses a power change in the middle of an activity, before any machine is touched: the activity would
// wait for a machine that lost its power. An activity on hold does not count, since it waits for a person.
func refuseAmid(s *client.Session, cmd *cobra.Command, names []string) error {
	if client.Forced(cmd.Context()) {
		return nil
	}
	all, err := wait.ReadStatuses(cmd.Context(), s, names)
	if err != nil {
		return err
	}
	var amid []error
	for i, st := range all {
		if !busy(st) {
			continue
		}
		text := "state " + st.State
		if st.WaitingFor != "" {
			text += ", waits for " + st.WaitingFor
		}
		amid = append(amid, fmt.Errorf("cannot %s node %s: %s is under way (%s), which may fail by it\n  try: ferrite node "+
			"status %s; or the same command with --force", typed(cmd), names[i], cmp.Or(st.Activity, "a change of state"), text,
			names[i]))
	}
	return errors.Join(amid...)
}

// busy reports whether an activity of a node is under way. A server that is not Ferrite names none: the node is on
// its way to another state.
func busy(st nodeapi.Status) bool {
	rests := strings.HasSuffix(st.State, " hold") || strings.HasSuffix(st.State, " failed") || st.State == "error"
	return !rests && (st.Activity != "" || st.Target != "" && st.Target != st.State)
}

// powerStatus shows the power states of machines, with the time of the last reading.
func powerStatus(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "status NODE...",
		Short: "Show whether machines are on",
		Long: `Show the power state of machines as the conductor read it last, and when. A change that is
under way is in column target.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := wait.ReadStatuses(cmd.Context(), s, args)
			if err != nil {
				return err
			}
			t := output.NewTable("node", "power", "target", "read")
			for _, st := range all {
				t.Row(cmp.Or(st.Name, st.Node), cmp.Or(st.Power, "unknown"), st.TargetPower, wait.Clock(st.PowerReadAt))
			}
			return output.PrintAny(s, cmd.OutOrStdout(), all, t)
		},
	}
}
