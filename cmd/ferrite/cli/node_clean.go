package cli

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeClean(s *session) *cobra.Command {
	return stepCommand(s, verb{
		name: "clean", target: "clean", goal: provisionGoal("manageable"),
		short: "Do cleaning steps of your own choice on a machine",
		long:  "Do cleaning steps of your own choice on a machine that is manageable, which it is afterwards.\n\n" + stepsHelp,
	}, func(p *nodeapi.Provision) *[]nodeapi.Step { return &p.CleanSteps })
}

func nodeService(s *session) *cobra.Command {
	return stepCommand(s, verb{
		name: "service", target: "service", goal: provisionGoal("active"),
		short: "Change a machine under a living workload, by steps",
		long: "Do service steps on an active machine. When they need the ramdisk the machine is restarted into\n" +
			"it, and back into its own operating system afterwards.\n\n" + stepsHelp,
	}, func(p *nodeapi.Provision) *[]nodeapi.Step { return &p.ServiceSteps })
}

// stepCommand is a verb that comes with steps.
func stepCommand(s *session, v verb, at func(*nodeapi.Provision) *[]nodeapi.Step) *cobra.Command {
	var flags stepFlags
	var wait waitFlag
	cmd := &cobra.Command{
		Use:               v.name + " NODE... {--step INTERFACE.STEP | --steps FILE | --runbook NAME}",
		Short:             v.short,
		Long:              v.long,
		Example:           "  ferrite node " + v.name + " m1 --step power.reboot --wait",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeNodes(s),
		RunE: func(cmd *cobra.Command, args []string) error {
			body := nodeapi.Provision{Target: v.target, Runbook: flags.runbook, DisableRamdisk: flags.noRamdisk}
			steps, err := flags.read()
			if err != nil {
				return err
			}
			*at(&body) = steps
			return s.ask(cmd, args, v.goal, wait, body)
		},
	}
	flags.add(cmd)
	wait.add(cmd)
	return cmd
}
