package node

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/caution"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
)

func nodeDelete(s *client.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete NODE...",
		Short: "Delete machines from the conductor",
		Long: `Delete the records of machines. The machines themselves are not touched. A machine that is
deployed or busy cannot be deleted: undeploy it, or put it into maintenance first.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return wait.Each(args, func(node string) error {
				if err := wait.Unlocked(cmd.Context(), node, func(ctx context.Context, node string) error {
					return s.Client.Do(ctx, "DELETE", client.NodePath(node), nil, nil)
				}); err != nil {
					return refused(cmd.Context(), s, cmd, node, err)
				}
				return output.Say(s, cmd, "deleted node %s\n", node)
			})
		},
	}
	caution.Care{Force: caution.OfHost,
		Question: caution.Always("This deletes the records of NAMES, with ports, inventory and history.")}.Add(s, cmd)
	return cmd
}
