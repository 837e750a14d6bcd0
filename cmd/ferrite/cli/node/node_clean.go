package node

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/caution"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeClean(s *client.Session) *cobra.Command {
	return stepCommand(s, verb{
		name: "clean", target: "clean", goal: wait.ProvisionGoal("manageable"),
		short: "Run cleaning steps that you choose on a machine",
		long: "Run cleaning steps that you choose. The machine must be manageable, and is so afterwards.\n\n" +
			stepsHelp,
	}, func(p *nodeapi.Provision) *[]nodeapi.Step { return &p.CleanSteps })
}

func nodeService(s *client.Session) *cobra.Command {
	return stepCommand(s, verb{
		name: "service", target: "service", goal: wait.ProvisionGoal("active"),
		short: "Run steps on a machine that has a workload",
		long: "Run service steps on an active machine. If a step needs the ramdisk, the machine is restarted into\n" +
			"it. Afterwards it is restarted into its own operating system. Steps that erase are refused.\n\n" + stepsHelp,
	}, func(p *nodeapi.Provision) *[]nodeapi.Step { return &p.ServiceSteps })
}

// stepCommand is a verb that comes with steps.
func stepCommand(s *client.Session, v verb, at func(*nodeapi.Provision) *[]nodeapi.Step) *cobra.Command {
	var flags stepFlags
	var waiting wait.Flag
	cmd := &cobra.Command{
		Use:     v.name + " NODE... {--step INTERFACE.STEP | --steps FILE | --runbook NAME}",
		Short:   v.short,
		Long:    v.long,
		Example: "  ferrite node " + v.name + " m1 --step power.reboot --wait",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			body := nodeapi.Provision{Target: v.target, Runbook: flags.runbook, DisableRamdisk: flags.noRamdisk}
			steps, err := flags.read()
			if err != nil {
				return err
			}
			if err := checkTyped(s, cmd, args, v.name, steps); err != nil {
				return err
			}
			*at(&body) = steps
			return requestVerb(s, cmd, args, v.goal, waiting, body)
		},
	}
	flags.add(cmd)
	waiting.Add(cmd)
	caution.Care{Force: caution.OfHost, Question: flags.question}.Add(s, cmd)
	return cmd
}
