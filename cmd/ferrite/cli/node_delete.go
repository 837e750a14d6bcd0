package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func nodeDelete(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "delete NODE...",
		Short: "Forget machines",
		Long: `Forget machines. The machines themselves are not touched. A machine that is at
work is not forgotten: undeploy it, or put it into maintenance first.`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeNodes(s),
		RunE: func(cmd *cobra.Command, args []string) error {
			return each(args, func(node string) error {
				if err := s.client.do(cmd.Context(), "DELETE", nodePath(node), nil, nil); err != nil {
					return err
				}
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "deleted node %s\n", node)
				return err
			})
		},
	}
}
