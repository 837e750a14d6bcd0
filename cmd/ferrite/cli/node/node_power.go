package node

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/nodes"
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
		var waiting wait.Flag
		var timeout time.Duration
		cmd := &cobra.Command{
			Use:   p.name + " NODE...",
			Short: p.short,
			Args:  cobra.MinimumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				body := nodeapi.Power{Target: p.target, Timeout: int(timeout.Seconds())}
				begin := func(ctx context.Context, node string) error {
					return s.Client.Do(ctx, "PUT", client.NodePath(node, "states", "power"), body, nil)
				}
				return runVerb(s, cmd, args, waiting, powerGoal(cmd.Context(), s, p.ends), begin)
			},
		}
		waiting.Add(cmd)
		cmd.Flags().DurationVar(&timeout, "power-timeout", 0,
			"time limit; the conductor's default when left out")
		commands = append(commands, cmd)
	}
	return client.Group("power", "Switch machines on and off", "", commands...)
}

// powerGoal is a power state to end in. The status has the current power; whether
// a change is still under way is a field of the node.
func powerGoal(ctx context.Context, s *client.Session, ends string) wait.Goal {
	return func(st nodeapi.Status) (bool, error) {
		n, err := nodes.GetNode(ctx, s, st.Node, "power_state,target_power_state,last_error")
		switch {
		case err != nil:
			return false, err
		case n.TargetPowerState != "":
			return false, nil
		case n.PowerState == ends:
			return true, nil
		}
		st.LastError = n.LastError
		st.State += ", " + cmp.Or(n.PowerState, "power unknown")
		return false, &wait.LandedError{Status: st}
	}
}
