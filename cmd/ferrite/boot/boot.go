// Package boot is `ferrite boot`: settings for other DHCP servers of the network that machines boot from.
//
// It is wiring over package pxe/snippet and asks no conductor.
package boot

import (
	"fmt"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/pxe/server"
	"github.com/ferrite-metal/ferrite/pxe/snippet"
)

// Command is `ferrite boot`.
func Command() *cobra.Command {
	c := &cobra.Command{Use: "boot", Short: "Set up the network that machines boot from", SilenceUsage: true,
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(snippetCommand())
	return c
}

func snippetCommand() *cobra.Command {
	var address string
	c := &cobra.Command{
		Use:   "snippet dnsmasq|isc|kea|windows",
		Short: "Print the settings of a DHCP server of your own, which names the boot files",
		Long: `Print settings for a DHCP server, so that machines which get their address from it boot
from a conductor that runs with --dhcp off: the boot file for BIOS, UEFI and UEFI HTTP boot,
and the script for iPXE. Put it into the configuration of that server.`,
		Example: "  ferrite boot snippet kea --boot-address 10.0.0.1",
		Args:    cobra.ExactArgs(1), ValidArgs: snippet.Servers(),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := netip.ParseAddr(address)
			if err != nil {
				return fmt.Errorf("--boot-address %q: expected the address of the conductor on the boot network, as 10.0.0.1: %w",
					address, err)
			}
			text, err := snippet.Text(args[0], "http://"+netip.AddrPortFrom(at, server.DefaultHTTPPort).String())
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), text)
			return err
		},
	}
	c.Flags().StringVar(&address, "boot-address", "", "`address` of the conductor on the boot network (required)")
	return c
}
