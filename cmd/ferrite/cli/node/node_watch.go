package node

import (
	"errors"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/follow"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeWatch(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "watch [NODE]",
		Short: "Show what happens to a node, or to all, from now on",
		Long: `Show a line for each change of a node, each stage of its boot, and the progress of its steps, from
now on. Ctrl-C ends it. For what has happened before: ferrite events --node NODE.`,
		Example: "  ferrite node watch web-1\n  ferrite node watch -o json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if s.Output == "yaml" {
				return errors.New("--output yaml: expected table or json, which come line by line")
			}
			q := nodeapi.EventQuery{Follow: true, Types: []string{"node", "boot", "step"}}
			if len(args) > 0 {
				q.Node = args[0]
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			if err := follow.Events(ctx, s, cmd.OutOrStdout(), q); !follow.Stopped(err) {
				return err
			}
			return nil
		},
	}
}
