package node

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/caution"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeMaintenance(s *client.Session) *cobra.Command {
	var reason string
	set := &cobra.Command{
		Use:   "set NODE...",
		Short: "Put machines into maintenance",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return setMaintenance(s, cmd, args, "PUT", nodeapi.Maintenance{Reason: reason}, "in maintenance")
		},
	}
	set.Flags().StringVar(&reason, "reason", "", "why, for other people")
	unset := &cobra.Command{
		Use:   "unset NODE...",
		Short: "Take machines out of maintenance",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return setMaintenance(s, cmd, args, "DELETE", nil, "out of maintenance")
		},
	}
	caution.Care{}.Add(s, set)
	caution.Care{}.Add(s, unset)
	return client.Group("maintenance", "Take machines out of service and back", "", set, unset)
}

func setMaintenance(s *client.Session, cmd *cobra.Command, nodes []string, method string, body any, now string) error {
	return wait.Each(nodes, func(node string) error {
		err := wait.Unlocked(cmd.Context(), node, func(ctx context.Context, _ string) error {
			return s.Client.Do(ctx, method, client.NodePath(node, "maintenance"), body, nil)
		})
		if err != nil {
			return refused(cmd.Context(), s, cmd, node, err)
		}
		return output.Say(s, cmd, "%s is %s\n", node, now)
	})
}
