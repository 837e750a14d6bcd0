// Package bmc is `ferrite bmc`: BMCs looked at without a conductor.
//
// It is wiring over package conductor/bmc/doctor, and the table that it prints.
package bmc

import "github.com/spf13/cobra"

// Command is `ferrite bmc`.
func Command() *cobra.Command {
	c := &cobra.Command{Use: "bmc", Short: "Check BMCs, without a conductor", SilenceUsage: true,
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(doctorCommand())
	return c
}
