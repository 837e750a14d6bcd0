// Command ferrite-lab simulates a machine room: QEMU machines behind Redfish BMCs in a network namespace of their own,
// with a conductor that provisions them.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/tour"
)

func main() {
	root := &cobra.Command{
		Use: "ferrite-lab", Short: "A machine room of QEMU machines, for trying Ferrite",
		SilenceUsage: true, SilenceErrors: true,
	}
	root.AddCommand(up(), down(), recordedBMC(), bmcCheck())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := root.ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ferrite-lab:", err)
		os.Exit(1)
	}
}

func up() *cobra.Command {
	o := tour.Options{Out: os.Stdout}
	var personality string
	c := &cobra.Command{
		Use: "up", Short: "Bring a lab up, take a machine from power-off to its own operating system, stay up",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.Personality, err = redfish.FindPersonality(personality); err != nil {
				return fmt.Errorf("--personality: %w", err)
			}
			if o.Bin == "" {
				self, err := os.Executable()
				if err != nil {
					return fmt.Errorf("find the programs: %w; say where they are with --bin", err)
				}
				o.Bin = filepath.Dir(self)
			}
			return tour.Run(cmd.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.OS, "os", "tiny", "operating system to deploy: tiny or debian")
	f.StringVar(&o.Firmware, "firmware", "uefi", "firmware of the machines: uefi or bios")
	f.StringVar(&o.Accel, "accel", "tcg", "QEMU's accelerator: tcg, or kvm where it works")
	f.StringVar(&personality, "personality", redfish.Ideal,
		"whose deviations the BMCs have: "+strings.Join(redfish.PersonalityNames(), ", "))
	f.StringVar(&o.Dir, "dir", tour.DefaultDir(), "`folder` of the lab: disks, consoles, logs")
	f.StringVar(&o.Bin, "bin", "", "`folder` of the programs and ramdisk/ (default: beside this one)")
	return c
}
