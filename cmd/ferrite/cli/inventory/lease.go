package inventory

import (
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/nodes"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const leaseHelp = `DHCP leases and reservations of the boot service, by MAC. No other machine gets a
reserved address. A reservation counts from the machine's next DHCP request on.`

const leasesPath = nodeapi.FerriteRoot + "/leases"

// LeaseCommand is ferrite lease.
func LeaseCommand(s *client.Session) *cobra.Command {
	return client.Group("lease", "DHCP leases and reserved addresses", leaseHelp, leaseList(s), leaseReserve(s),
		leaseDelete(s))
}

func leaseList(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List leases and reserved (static) addresses",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var reply struct {
				Leases json.RawMessage `json:"leases"`
			}
			if err := s.Client.Do(cmd.Context(), "GET", leasesPath, nil, &reply); err != nil {
				return noLeases(s, err)
			}
			columns := append(output.Columns("mac", "ip", "subnet"), nodes.OfMACColumn(cmd.Context(), s))
			columns = append(columns, output.Columns("static", "expires")...)
			return output.PrintAny(s, cmd.OutOrStdout(), reply.Leases, output.RowsOf(s, reply.Leases, columns))
		},
	}
}

func leaseReserve(s *client.Session) *cobra.Command {
	var subnet string
	cmd := &cobra.Command{
		Use:   "reserve MAC IP",
		Short: "Reserve an address for a machine",
		Example: `  ferrite lease reserve 52:54:00:12:34:56 10.0.0.50
  ferrite lease reserve 52:54:00:12:34:56 10.1.0.50 --subnet rack-7`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var reply json.RawMessage
			if err := s.Client.Do(cmd.Context(), "PUT", leasePath(args[0]), nodeapi.Reservation{IP: args[1],
				Subnet: subnet},
				&reply); err != nil {
				return noLeases(s, err)
			}
			return output.PrintAny(s, cmd.OutOrStdout(), reply, output.Fields(s, reply))
		},
	}
	cmd.Flags().StringVar(&subnet, "subnet", "", "name of the subnet, where several have the address")
	return cmd
}

func leaseDelete(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "delete MAC...",
		Short: "Delete leases and reservations",
		Long: `Delete leases and reservations. A machine that still uses a leased address gets it
again when it renews. A machine without its reservation gets another address.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return wait.Each(args, func(mac string) error {
				if err := s.Client.Do(cmd.Context(), "DELETE", leasePath(mac), nil, nil); err != nil {
					return err
				}
				return output.Say(s, cmd, "deleted lease of %s\n", mac)
			})
		},
	}
}

func leasePath(mac string) string { return leasesPath + "/" + url.PathEscape(mac) }

// noLeases explains the 404 of a server that has no such resource.
func noLeases(s *client.Session, err error) error {
	if client.NotFound(err) {
		return fmt.Errorf("the server at %s has no leases: it is an Ironic, or an older Ferrite (%w)",
			s.Client.Base, err)
	}
	return err
}
