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

// verb is a command that asks for a state of machines.
type verb struct {
	name, target, short, long string
	goal                      wait.Goal // where the node is to end
	care                      caution.Care
	args, example             string
	power                     bool      // a power state, else a provision state
	flags                     bodyFlags // nil for a verb without flags of its own
}

// bodyFlags adds flags to the command of a verb.
type bodyFlags func(s *client.Session, cmd *cobra.Command) body

// body makes the body of the request, or an imageRequest, after the checks that come before.
type body func(cmd *cobra.Command, nodes []string) (any, error)

func (v verb) command(s *client.Session) *cobra.Command {
	cmd := &cobra.Command{Use: v.name + " NODE..." + v.args, Short: v.short, Long: v.long, Example: v.example}
	var made body = func(*cobra.Command, []string) (any, error) { return nodeapi.Provision{Target: v.target}, nil }
	if v.flags != nil {
		made = v.flags(s, cmd)
	}
	part := "provision"
	if v.power {
		part = "power"
	}
	var waiting wait.Flag
	waiting.Add(cmd)
	v.care.Add(s, cmd)
	cmd.RunE = func(cmd *cobra.Command, nodes []string) error {
		wanted, err := made(cmd, nodes)
		if err != nil {
			return err
		}
		return runVerb(s, cmd, nodes, waiting, v.goal, func(ctx context.Context, node string) error {
			if r, ok := wanted.(imageRequest); ok {
				return r.send(ctx, s, node)
			}
			return s.Client.Do(ctx, "PUT", client.NodePath(node, "states", part), wanted, nil)
		})
	}
	return cmd
}

// plainVerbs are the verbs without arguments of their own.
func plainVerbs() []verb {
	return []verb{
		{name: "manage", target: "manage", goal: wait.ProvisionGoal("manageable"),
			short: "Check that the BMC answers, and take the machine under management",
			long: `In state enroll, the conductor reads the power state with the credentials of the node. In
inspect failed, clean failed or adopt failed, the verb says that the cause is removed. In
available, it takes the machine out of the pool.`},
		{name: "inspect", target: "inspect", goal: wait.ProvisionGoal("manageable"),
			short: "Store the inventory of a machine",
			long: `Boots the ramdisk and stores the inventory. With inspect interface redfish, the BMC is asked.
The machine must be manageable.`},
		{name: "provide", target: "provide", goal: wait.ProvisionGoal("available"),
			short: "Clean a machine and make it available", care: caution.Care{Force: caution.OfHost},
			long: `Cleans the disks if automated cleaning is on, then makes the machine available.
The machine must be manageable.`},
		{name: "undeploy", target: "deleted", goal: wait.ProvisionGoal("available"),
			short: "End the workload of a machine, clean it and make it available",
			long:  "The machine is powered off, its instance removed and its disks cleaned. The data is lost.",
			care: caution.Care{Force: caution.OfHost,
				Question: caution.Always("This ends the workload of NAMES, and erases the disks.")}},
		{name: "abort", target: "abort", goal: wait.Goal{Reached: wait.AtRest},
			short: "Stop an activity that waits or is held",
			long: `Ends a wait or a hold. The node goes to the failed state of its activity. A step that must not
be interrupted ends first. In service failed, the machine boots its workload again.`},
		{name: "adopt", target: "adopt", goal: wait.ProvisionGoal("active"),
			short: "Take over a machine that already runs a workload",
			long: `The conductor reads the power state; the machine itself is not touched. It must be
manageable, and is active afterwards.`},
		{name: "unrescue", target: "unrescue", goal: wait.ProvisionGoal("active"),
			short: "End a rescue and boot the machine's own operating system",
			long:  "Restarts the machine from its disk. It must be in rescue, rescue failed or unrescue failed."},
		{name: "unhold", target: "unhold", goal: wait.Goal{Reached: wait.Wherever},
			short: "Continue a machine that is held",
			long:  "A step called hold has stopped the activity of the machine. This verb continues it."},
	}
}

func nodeVerbs(s *client.Session) (commands []*cobra.Command) {
	for _, v := range append(plainVerbs(), deploy, rebuild, clean(), service()) {
		commands = append(commands, v.command(s))
	}
	return commands
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
