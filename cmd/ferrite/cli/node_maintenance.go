package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeMaintenance(s *session) *cobra.Command {
	var reason string
	set := &cobra.Command{
		Use:               "set NODE...",
		Short:             "Take machines out of service",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeNodes(s),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.maintain(cmd, args, "PUT", nodeapi.Maintenance{Reason: reason}, "in maintenance")
		},
	}
	set.Flags().StringVar(&reason, "reason", "", "why, for the next one who looks")
	unset := &cobra.Command{
		Use:               "unset NODE...",
		Short:             "Put machines back into service",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeNodes(s),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.maintain(cmd, args, "DELETE", nil, "out of maintenance")
		},
	}
	return group("maintenance", "Take machines out of service and back", "", set, unset)
}

func (s *session) maintain(cmd *cobra.Command, nodes []string, method string, body any, now string) error {
	return each(nodes, func(node string) error {
		if err := s.client.do(cmd.Context(), method, nodePath(node, "maintenance"), body, nil); err != nil {
			return err
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s is %s\n", node, now)
		return err
	})
}
