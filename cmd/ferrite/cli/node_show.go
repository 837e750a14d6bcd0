package cli

import (
	"net/url"

	"github.com/spf13/cobra"
)

func nodeShow(s *session) *cobra.Command {
	var names string
	cmd := &cobra.Command{
		Use:               "show NODE",
		Short:             "Show all that is known of a machine",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeNodes(s),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := nodePath(args[0])
			if names != "" {
				path += "?fields=" + url.QueryEscape(names)
			}
			return s.show(cmd, path)
		},
	}
	cmd.Flags().StringVar(&names, "fields", "", "these fields only, between commas")
	return cmd
}
