package node

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// nodeConfirm is for machines that a person switches.
func nodeConfirm(s *client.Session) *cobra.Command {
	var commands []*cobra.Command
	for _, p := range []struct{ name, state, short string }{
		{"on", "power on", "Confirm that machines have been switched on, or restarted"},
		{"off", "power off", "Confirm that machines have been switched off"},
	} {
		commands = append(commands, &cobra.Command{
			Use:   p.name + " NODE...",
			Short: p.short,
			Args:  cobra.MinimumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return wait.Each(args, func(node string) error {
					body := nodeapi.ConfirmedPower{Confirmed: p.state}
					if err := wait.Do(cmd.Context(), s, "PUT", client.FerritePath(node, "power"), body, nil); err != nil {
						return refused(cmd.Context(), s, cmd, node, err)
					}
					return output.Say(s, cmd, "%s is taken for %s\n", node, p.state)
				})
			},
		})
	}
	power := client.Group("power", "Confirm the power of machines", "", commands...)
	return client.Group("confirm", "Confirm what was done to a machine by hand",
		`Machines of the hardware type manual-management have no BMC: a person presses the power
button. While a node waits for that, "ferrite node status" says so. A machine that boots from
the network is known to be on, and needs no confirmation.`, power)
}
