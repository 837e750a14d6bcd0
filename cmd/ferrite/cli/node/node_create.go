package node

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/caution"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/nodes"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeCreate(s *client.Session) *cobra.Command {
	var macs []string
	cmd := &cobra.Command{
		Use:   "create --driver DRIVER [--name NAME] [--driver-info KEY=VALUE]... [--port MAC]...",
		Short: "Enroll a machine",
		Long: `Enroll a machine: record its name, and how the conductor reaches its BMC. The machine
itself is not touched. The next command is "ferrite node manage".

With --port, a machine is inspected by the ramdisk that it boots from that port, where its
driver can do so (--inspect-interface agent): a BMC does not see all disks. Name another
inspect interface to have that.`,
		Example: `  ferrite node create --driver redfish --name m1 --port 52:54:00:12:34:56 \
      --driver-info redfish_address=https://10.0.0.9 \
      --driver-info redfish_username=admin --driver-info-file redfish_password=bmc-password`,
	}
	flags := addFields(cmd, "POST")
	cmd.Flags().StringArrayVar(&macs, "port", nil, "MAC of a network interface that it boots from; repeat it")
	caution.Care{Force: caution.OfMachine}.Add(s, cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		given, err := flags.Read(cmd, s)
		if err != nil {
			return err
		}
		body := given.Body(map[string]any{})
		for _, mac := range macs { // else the node would be there, without it
			if _, err := net.ParseMAC(mac); err != nil {
				return fmt.Errorf("--port %q: expected a MAC address like 52:54:00:12:34:56", mac)
			}
		}
		driver, _ := body["driver"].(string)
		if err := checkDriverInfo(cmd.Context(), s, given.Objects["driver_info"], driver); err != nil {
			return err
		}
		if err := checkMACs(cmd.Context(), s, macs); err != nil {
			return err
		}
		if _, named := body["inspect_interface"]; len(macs) > 0 && !named && inspectsByAgent(cmd.Context(), s, driver) {
			body["inspect_interface"] = "agent"
		}
		var reply json.RawMessage
		if err := s.Client.Do(cmd.Context(), "POST", nodeapi.Root+"/nodes", body, &reply); err != nil {
			return err
		}
		warnOldState(s, cmd)
		var n nodeapi.Node
		if err := json.Unmarshal(reply, &n); err != nil {
			return fmt.Errorf("the new node: %w", err)
		}
		for _, mac := range macs {
			port := map[string]any{"node_uuid": n.UUID, "address": mac}
			if err := s.Client.Do(cmd.Context(), "POST", nodeapi.Root+"/ports", port, nil); err != nil {
				return fmt.Errorf("node %s is enrolled, but its port %s is not: %w\n  add it with: ferrite port create "+
					"%s --node %s",
					n.Label(), mac, err, mac, n.Label())
			}
		}
		if !s.People() {
			return output.PrintAny(s, cmd.OutOrStdout(), reply, nil)
		}
		return output.Say(s, cmd, "created node %s (%s) in state %s\n  next: %s\n", n.Label(), n.UUID, n.ProvisionState,
			wait.Next(nodeapi.Status{Node: n.UUID, Name: n.Name, State: n.ProvisionState}))
	}
	return cmd
}

// inspectsByAgent reports whether machines of a driver can be inspected by the agent. fake-hardware boots no agent.
func inspectsByAgent(ctx context.Context, s *client.Session, driver string) bool {
	var d struct {
		Enabled []string `json:"enabled_inspect_interfaces"`
	}
	err := s.Client.Do(ctx, "GET", nodeapi.Root+"/drivers/"+url.PathEscape(driver), nil, &d)
	return err == nil && driver != "fake-hardware" && slices.Contains(d.Enabled, "agent")
}

// checkMACs refuses MACs that ports have already, before the node is made: else it would be there without them.
func checkMACs(ctx context.Context, s *client.Session, macs []string) error {
	for _, mac := range macs {
		var found struct {
			Ports []struct {
				Node string `json:"node_uuid"`
			}
		}
		err := s.Client.Do(ctx, "GET", nodeapi.Root+"/ports?fields=node_uuid&address="+url.QueryEscape(mac), nil, &found)
		if err != nil || len(found.Ports) == 0 {
			continue // the request itself reports the error
		}
		n, err := nodes.GetNode(ctx, s, found.Ports[0].Node, "uuid,name")
		if err != nil {
			n.UUID = found.Ports[0].Node
		}
		return exit.Is(exit.Refused, fmt.Errorf("--port %s: node %s has this port already, and nothing was created\n"+
			"  see: ferrite node show %s", mac, n.Label(), n.Label()))
	}
	return nil
}

// enrollSince is the microversion from which on a new node is in state enroll.
const enrollSince = 11

// warnOldState warns when the server is too old for enroll: then the new node is available at once, and could be
// deployed without any check of it.
func warnOldState(s *client.Session, cmd *cobra.Command) {
	if minor := int(s.Client.Minor.Load()); minor < enrollSince {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: the conductor speaks only %s, in which new nodes skip enroll: "+
			"the node is available at once, unchecked and not cleaned; state enroll came with %s\n",
			nodeapi.Version(minor), nodeapi.Version(enrollSince))
	}
}

// checkDriverInfo refuses keys of --driver-info that look like misspelt keys of the driver, else of the first node's
// driver. The conductor accepts any key, since a vendor's driver has keys of its own. With --force the check is left
// out.
func checkDriverInfo(ctx context.Context, s *client.Session, given map[string]any, driver string,
	names ...string) error {
	if len(given) == 0 || client.Forced(ctx) {
		return nil
	}
	if driver == "" && len(names) > 0 {
		var n struct{ Driver string }
		if s.Client.Do(ctx, "GET", client.NodePath(names[0])+"?fields=driver", nil, &n) != nil {
			return nil // the request itself reports the error
		}
		driver = n.Driver
	}
	var meanings map[string]string
	path := nodeapi.Root + "/drivers/" + url.PathEscape(driver) + "/properties"
	if s.Client.Do(ctx, "GET", path, nil, &meanings) != nil {
		return nil
	}
	known := output.Sorted(meanings)
	for _, key := range output.Sorted(given) {
		if _, ok := meanings[key]; ok {
			continue
		}
		if near := nodeapi.Closest(key, known); near != "" {
			return exit.Usage(fmt.Errorf("--driver-info %s: the driver %s has no such key, and nothing was changed\n"+
				"  did you mean %s? --force takes it as it is", key, driver, near))
		}
	}
	return nil
}
