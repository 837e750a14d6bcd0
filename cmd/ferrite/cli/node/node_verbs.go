package node

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// verb is a command that asks for a provision state.
type verb struct {
	name, target, short, long string
	goal                      wait.Goal // where the node is to end
}

// plainVerbs are those without arguments of their own.
func plainVerbs() []verb {
	return []verb{
		{"manage", "manage", "Check that the BMC answers, and take the machine under management",
			"From enroll: the BMC is asked for the power state with the credentials given. From inspect,\n" +
				"clean or adopt failed: somebody has looked at the machine, and it may go on. From available:\n" +
				"take it out of the pool.", wait.ProvisionGoal("manageable")},
		{"inspect", "inspect", "Learn what a machine is made of",
			"Boots the ramdisk (or asks the BMC, with inspect interface redfish) and stores the inventory.\n" +
				"The machine must be manageable.", wait.ProvisionGoal("manageable")},
		{"provide", "provide", "Wipe a machine and offer it",
			"Cleans the disks as far as automated cleaning is on, then makes the machine available.\n" +
				"The machine must be manageable.", wait.ProvisionGoal("available")},
		{"undeploy", "deleted", "End what runs on a machine, wipe it and offer it again",
			"The machine is powered off, its instance forgotten, its disks cleaned. There is no way back.",
			wait.ProvisionGoal("available")},
		{"abort", "abort", "Stop waiting",
			"Ends a wait or a hold. The node lands in the failed state of what it did; a step that must not\n" +
				"be cut off is left to end first. From service failed: back to the workload.", wait.AtRest},
		{"adopt", "adopt", "Take over a machine that already runs a workload",
			"The BMC is asked whether the machine is on; the machine itself is not touched. It must be\n" +
				"manageable, and is active afterwards.", wait.ProvisionGoal("active")},
		{"unrescue", "unrescue", "End a rescue and boot the machine's own operating system",
			"Restarts the machine from its disk. It must be in rescue, or have failed on\nthe way there or back.",
			wait.ProvisionGoal("active")},
		{"unhold", "unhold", "Let a held machine go on",
			"A step called hold has stopped what the machine was doing; this lets it go on.", wait.Wherever},
	}
}

func nodeVerbs(s *client.Session) []*cobra.Command {
	var commands []*cobra.Command
	for _, v := range plainVerbs() {
		var waiting wait.Flag
		cmd := &cobra.Command{
			Use:   v.name + " NODE...",
			Short: v.short,
			Long:  v.long,
			Args:  cobra.MinimumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return requestVerb(s, cmd, args, v.goal, waiting, nodeapi.Provision{Target: v.target})
			},
		}
		waiting.Add(cmd)
		commands = append(commands, cmd)
	}
	return commands
}

// requestVerb asks for a verb on every node and, when told to, follows them all.
func requestVerb(s *client.Session, cmd *cobra.Command, nodes []string, g wait.Goal, waiting wait.Flag,
	body nodeapi.Provision) error {
	begin := func(ctx context.Context, node string) error {
		return s.Client.Do(ctx, "PUT", client.NodePath(node, "states", "provision"), body, nil)
	}
	return runVerb(s, cmd, nodes, waiting, g, begin)
}

// runVerb begins something on every node and follows it when told to.
func runVerb(s *client.Session, cmd *cobra.Command, nodes []string, waiting wait.Flag, g wait.Goal,
	begin func(context.Context, string) error) error {
	if !waiting.On {
		return wait.Each(nodes, func(node string) error {
			if err := begin(cmd.Context(), node); err != nil {
				return refused(cmd.Context(), s, cmd, node, err)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s requested; follow it with: ferrite node status %s\n",
				node, typed(cmd), node)
			return err
		})
	}
	ctx, cancel := context.WithTimeoutCause(cmd.Context(), waiting.Limit, fmt.Errorf("not there after %s", waiting.Limit))
	defer cancel()
	screen := wait.NewScreen(cmd, s.Output, len(nodes) == 1)
	return wait.All(nodes, func(node string) error {
		before, err := wait.ReadStatus(ctx, s, node)
		if err != nil {
			return err
		}
		if err := begin(ctx, node); err != nil {
			return refused(ctx, s, cmd, node, err)
		}
		return wait.FollowNodes(ctx, s, node, g, screen.Line(node, before))
	})
}
