package inventory

import (
	"encoding/json"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// DriverCommand is ferrite driver.
func DriverCommand(s *client.Session) *cobra.Command {
	list := &cobra.Command{
		Use:   "list",
		Short: "List the enabled hardware types",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var reply struct {
				Drivers json.RawMessage `json:"drivers"`
			}
			if err := s.Client.Do(cmd.Context(), "GET", nodeapi.Root+"/drivers", nil, &reply); err != nil {
				return err
			}
			rows := output.RowsOf(s, reply.Drivers, output.Columns("name", "hosts"))
			return output.PrintAny(s, cmd.OutOrStdout(), reply.Drivers, rows)
		},
	}
	one := func(use, short, part string) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return output.ShowPath(s, cmd, nodeapi.Root+"/drivers/"+url.PathEscape(args[0])+part)
			},
		}
	}
	return client.Group("driver", "Hardware types and their interfaces", "", list,
		one("show DRIVER", "Show the interfaces of a hardware type", ""),
		one("properties DRIVER", "Show the keys that --driver-info can have", "/properties"))
}
