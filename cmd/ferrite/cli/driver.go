package cli

import (
	"encoding/json"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func driverCommand(s *session) *cobra.Command {
	list := &cobra.Command{
		Use:   "list",
		Short: "List the hardware types a conductor drives",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var reply struct {
				Drivers json.RawMessage `json:"drivers"`
			}
			if err := s.client.do(cmd.Context(), "GET", nodeapi.Root+"/drivers", nil, &reply); err != nil {
				return err
			}
			return s.print(cmd.OutOrStdout(), reply.Drivers, rowsOf(reply.Drivers, []string{"name", "hosts"}))
		},
	}
	one := func(use, short, part string) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return s.show(cmd, nodeapi.Root+"/drivers/"+url.PathEscape(args[0])+part)
			},
		}
	}
	return group("driver", "Hardware types: what can be driven, and how", "", list,
		one("show DRIVER", "Show the interfaces of a hardware type", ""),
		one("properties DRIVER", "Show the keys of --driver-info", "/properties"))
}
