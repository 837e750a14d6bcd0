package inventory

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/flags"
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
		one("properties DRIVER", "Show the keys that --driver-info can have", "/properties"),
		one("raid-properties DRIVER", "Show what a volume of node raid set can have", "/raid/logical_disk_properties"),
		client.Group("vendor", "Methods of a hardware type", "",
			one("list DRIVER", "List the methods of a hardware type", "/vendor_passthru/methods"), driverCall(s)))
}

func driverCall(s *client.Session) *cobra.Command {
	var method, arguments string
	cmd := &cobra.Command{
		Use: "call DRIVER METHOD [--arguments JSON]", Short: "Call a method of a hardware type", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			body := map[string]any{}
			if arguments != "" {
				var err error
				if body, err = flags.ReadObject("arguments", arguments); err != nil {
					return err
				}
			}
			path := nodeapi.Root + "/drivers/" + url.PathEscape(args[0]) + "/vendor_passthru/" + url.PathEscape(args[1])
			var reply json.RawMessage
			if err := s.Client.Do(cmd.Context(), strings.ToUpper(method), path, body, &reply); err != nil {
				return err
			}
			if len(reply) == 0 || string(reply) == "null" {
				return output.Say(s, cmd, "%s: %s was called\n", args[0], args[1])
			}
			return output.PrintAny(s, cmd.OutOrStdout(), reply, output.Fields(s, reply))
		},
	}
	cmd.Flags().StringVar(&method, "http-method", "POST", "GET, POST, PUT, PATCH or DELETE")
	cmd.Flags().StringVar(&arguments, "arguments", "", "`file` of JSON or YAML, or JSON: an object")
	return cmd
}
