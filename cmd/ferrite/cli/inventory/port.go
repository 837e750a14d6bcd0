package inventory

import (
	"encoding/json"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/nodes"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// PortCommand is ferrite port.
func PortCommand(s *client.Session) *cobra.Command {
	return client.Group("port", "Network interfaces of machines",
		"Network interfaces of machines. A machine can boot only from an interface whose MAC is recorded.",
		portCreate(s), portSet(s), portList(s), portShow(s), portDelete(s))
}

func portCreate(s *client.Session) *cobra.Command {
	var node, physical, portgroup string
	var pxe bool
	var link, extra []string
	cmd := &cobra.Command{
		Use:     "create MAC --node NODE",
		Short:   "Add a network interface to a machine",
		Example: "  ferrite port create 52:54:00:12:34:56 --node m1",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := nodes.GetNode(cmd.Context(), s, node, "uuid")
			if err != nil {
				return err
			}
			body := map[string]any{"address": args[0], "node_uuid": n.UUID, "pxe_enabled": pxe}
			if physical != "" {
				body["physical_network"] = physical
			}
			if portgroup != "" {
				body["portgroup_uuid"] = portgroup
			}
			for _, f := range []struct {
				flag  string
				given []string
				read  func(string) any
			}{{"local-link-connection", link, output.MostlyText}, {"extra", extra, output.JsonOrText}} {
				if len(f.given) == 0 {
					continue
				}
				if body[output.FieldOf(f.flag)], err = output.Pairs(f.flag, f.given, f.read); err != nil {
					return err
				}
			}
			var reply json.RawMessage
			if err := wait.Do(cmd.Context(), s, "POST", nodeapi.Root+"/ports", body, &reply); err != nil {
				return err
			}
			return output.PrintAny(s, cmd.OutOrStdout(), reply, output.Fields(s, reply))
		},
	}
	f := cmd.Flags()
	f.StringVar(&node, "node", "", "machine that it belongs to")
	f.BoolVar(&pxe, "pxe-enabled", true, "the machine boots from it")
	f.StringVar(&physical, "physical-network", "", "name of the network it is connected to")
	f.StringVar(&portgroup, "portgroup", "", "UUID of its portgroup")
	f.StringArrayVar(&link, "local-link-connection", nil,
		"KEY=VALUE about the switch: switch_id, port_id, switch_info; repeat it")
	f.StringArrayVar(&extra, "extra", nil, "KEY=VALUE for your own use; repeat it")
	client.Must(cmd.MarkFlagRequired("node"))
	return cmd
}

func portSet(s *client.Session) *cobra.Command {
	cmd := &cobra.Command{Use: "set PORT [--FIELD VALUE]...", Short: "Change a network interface",
		Example: "  ferrite port set 5b2e52bd-0f05-4bb9-9b5b-5b6f4f6b9c1a --pxe-enabled=false"}
	flags := cmd.Flags()
	f := &recordFlags{
		texts: map[string]*string{
			"address":          flags.String("address", "", "MAC; the machine must not be active"),
			"physical-network": flags.String("physical-network", "", "name of the network it is connected to"),
			"portgroup-uuid":   flags.String("portgroup-uuid", "", "UUID of its portgroup"),
			"name":             flags.String("name", "", "name of the port"),
			"description":      flags.String("description", "", "free text"),
		},
		bools: map[string]*bool{
			"pxe-enabled": flags.Bool("pxe-enabled", true, "the machine boots from it"),
			"is-smartnic": flags.Bool("is-smartnic", false, "it is a port of a SmartNIC"),
		},
	}
	f.object(cmd, "local-link-connection", "local_link_connection",
		"KEY=VALUE about the switch: switch_id, port_id, switch_info; repeat it")
	f.extra(cmd)
	return record{session: s, noun: "port", arg: "PORT", kind: "ports"}.set(f, cmd)
}

func portList(s *client.Session) *cobra.Command {
	var node, address string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List network interfaces",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := url.Values{"fields": {"uuid,address,node_uuid,pxe_enabled"}}
			if node != "" {
				q.Set("node", node)
			}
			if address != "" {
				q.Set("address", address)
			}
			ports, err := s.Client.Pages(cmd.Context(), "ports", q, 0)
			if err != nil {
				return err
			}
			reply, err := json.Marshal(ports)
			if err != nil {
				return err
			}
			columns := nodes.NameColumns(cmd.Context(), s, output.Columns("uuid", "address", "node_uuid", "pxe_enabled"))
			return output.PrintAny(s, cmd.OutOrStdout(), reply, output.RowsOf(s, reply, columns))
		},
	}
	cmd.Flags().StringVar(&node, "node", "", "only interfaces of this machine")
	cmd.Flags().StringVar(&address, "address", "", "only the interface with this MAC")
	return cmd
}

func portShow(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "show PORT",
		Short: "Show one network interface, by UUID",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return output.ShowPath(s, cmd, nodeapi.Root+"/ports/"+url.PathEscape(args[0]))
		},
	}
}

func portDelete(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "delete PORT...",
		Short: "Delete network interfaces, by UUID",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return wait.Each(args, func(port string) error {
				path := nodeapi.Root + "/ports/" + url.PathEscape(port)
				if err := wait.Do(cmd.Context(), s, "DELETE", path, nil, nil); err != nil {
					return err
				}
				return output.Say(s, cmd, "deleted port %s\n", port)
			})
		},
	}
}
