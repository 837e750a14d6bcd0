package node

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/caution"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// verb is a command that asks for a provision state.
type verb struct {
	name, target, short, long string
	goal                      wait.Goal // where the node is to end
	care                      caution.Care
}

// plainVerbs are the verbs without arguments of their own.
func plainVerbs() []verb {
	return []verb{
		{"manage", "manage", "Check that the BMC answers, and take the machine under management",
			"In state enroll, the conductor reads the power state with the credentials of the node. In\n" +
				"inspect failed, clean failed or adopt failed, the verb says that the cause is removed. In\n" +
				"available, it takes the machine out of the pool.", wait.ProvisionGoal("manageable"), caution.Care{}},
		{"inspect", "inspect", "Store the inventory of a machine",
			"Boots the ramdisk and stores the inventory. With inspect interface redfish, the BMC is asked.\n" +
				"The machine must be manageable.", wait.ProvisionGoal("manageable"), caution.Care{}},
		{"provide", "provide", "Clean a machine and make it available",
			"Cleans the disks if automated cleaning is on, then makes the machine available.\n" +
				"The machine must be manageable.", wait.ProvisionGoal("available"), caution.Care{Force: caution.OfHost}},
		{"undeploy", "deleted", "End the workload of a machine, clean it and make it available",
			"The machine is powered off, its instance removed and its disks cleaned. The data is lost.",
			wait.ProvisionGoal("available"), caution.Care{Force: caution.OfHost,
				Question: caution.Always("This ends the workload of NAMES, and erases the disks.")}},
		{"abort", "abort", "Stop an activity that waits or is held",
			"Ends a wait or a hold. The node goes to the failed state of its activity. A step that must not\n" +
				"be interrupted ends first. In service failed, the machine boots its workload again.",
			wait.Goal{There: wait.AtRest}, caution.Care{}},
		{"adopt", "adopt", "Take over a machine that already runs a workload",
			"The conductor reads the power state; the machine itself is not touched. It must be\n" +
				"manageable, and is active afterwards.", wait.ProvisionGoal("active"), caution.Care{}},
		{"unrescue", "unrescue", "End a rescue and boot the machine's own operating system",
			"Restarts the machine from its disk. It must be in rescue, rescue failed or unrescue failed.",
			wait.ProvisionGoal("active"), caution.Care{}},
		{"unhold", "unhold", "Continue a machine that is held",
			"A step called hold has stopped the activity of the machine. This verb continues it.",
			wait.Goal{There: wait.Wherever}, caution.Care{}},
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
		v.care.Add(s, cmd)
		commands = append(commands, cmd)
	}
	return commands
}

// requestVerb requests a verb of every node and, with --wait, follows them all.
func requestVerb(s *client.Session, cmd *cobra.Command, nodes []string, g wait.Goal, waiting wait.Flag,
	body nodeapi.Provision) error {
	begin := func(ctx context.Context, node string) error {
		return s.Client.Do(ctx, "PUT", client.NodePath(node, "states", "provision"), body, nil)
	}
	return runVerb(s, cmd, nodes, waiting, g, begin)
}

// runVerb begins something on every node and, with --wait, follows it.
func runVerb(s *client.Session, cmd *cobra.Command, nodes []string, waiting wait.Flag, g wait.Goal,
	begin func(context.Context, string) error) error {
	if !waiting.On {
		err := wait.Each(nodes, func(node string) error {
			if err := wait.Unlocked(cmd.Context(), node, begin); err != nil {
				return refused(cmd.Context(), s, cmd, node, err)
			}
			return output.Say(s, cmd, "%s: %s requested; follow it with: ferrite node status %s\n", node, typed(cmd), node)
		})
		return errors.Join(err, printStatuses(cmd.Context(), s, cmd, nodes))
	}
	ctx, cancel := wait.Context(cmd.Context(), waiting.Limit)
	defer cancel()
	followed, err := wait.Prepare(ctx, s, wait.NewScreen(cmd, s), nodes)
	if err != nil {
		return err
	}
	wait.Request(ctx, s, followed, begin)
	err = wait.Follow(ctx, s, g, followed, func(node string, err error) error { return refused(ctx, s, cmd, node, err) })
	return errors.Join(err, printStatuses(cmd.Context(), s, cmd, nodes))
}

// printStatuses writes the statuses of nodes after a verb, as a list, for programs.
func printStatuses(ctx context.Context, s *client.Session, cmd *cobra.Command, nodes []string) error {
	if s.People() {
		return nil
	}
	all, err := wait.ReadStatuses(ctx, s, nodes)
	if err != nil {
		return err
	}
	return output.PrintAny(s, cmd.OutOrStdout(), all, nil)
}
