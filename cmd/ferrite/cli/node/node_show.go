package node

import (
	"net/url"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
)

func nodeShow(s *client.Session) *cobra.Command {
	var names string
	cmd := &cobra.Command{
		Use:   "show NODE",
		Short: "Show the record of a machine",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := client.NodePath(args[0])
			if names != "" {
				path += "?fields=" + url.QueryEscape(names)
			}
			return output.ShowPath(s, cmd, path)
		},
	}
	cmd.Flags().StringVar(&names, "fields", "", "fields to show, separated by commas")
	return cmd
}
