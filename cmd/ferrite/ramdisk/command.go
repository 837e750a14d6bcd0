// Package ramdisk is `ferrite ramdisk`: it makes the kernel and the ramdisk that
// machines boot from the network.
//
// It is wiring over package images/ramdisk and knows nothing of conductors.
package ramdisk

import "github.com/spf13/cobra"

// Command is `ferrite ramdisk`.
func Command() *cobra.Command {
	c := &cobra.Command{Use: "ramdisk", Short: "Build and inspect the kernel and ramdisk that machines boot",
		SilenceUsage: true,
		Args:         cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(build(), inspect(), isoCommand())
	return c
}
