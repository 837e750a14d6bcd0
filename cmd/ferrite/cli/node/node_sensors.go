package node

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeSensors(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "sensors NODE",
		Short: "Show the readings of a machine's BMC, and the health of its parts",
		Long: `Show temperatures, fans, power and voltages, and the health of drives, memory and processors, as
the BMC reported them last. They are read every --sensor-interval of the conductor (10 minutes),
while the node rests. Parts that are not well come first.`,
		Example: "  ferrite node sensors m1\n  ferrite node sensors m1 -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, found, err := client.Read[nodeapi.Sensors](cmd.Context(), s, client.FerritePath(args[0], "sensors"))
			if err != nil {
				return err
			}
			if err := output.PrintAny(s, cmd.OutOrStdout(), raw, sensorTable(found)); err != nil {
				return err
			}
			if s.People() {
				fmt.Fprintf(cmd.ErrOrStderr(), "read %s from %s\n", found.At, found.Source)
				for _, i := range found.Incomplete {
					fmt.Fprintf(cmd.ErrOrStderr(), "not read: %s\n", nodeapi.Printable(i))
				}
			}
			return nil
		},
	}
}

// sensorTable is a row for each sensor: those that are critical first, then those with a warning.
func sensorTable(found nodeapi.Sensors) *output.Table {
	t := output.NewTable("Group", "Name", "Reading", "Critical At", "Health", "Of")
	for _, health := range []string{"Critical", "Warning", ""} {
		for _, s := range found.Sensors {
			unwell := s.Health == "Critical" || s.Health == "Warning"
			if unwell && s.Health != health || !unwell && health != "" {
				continue
			}
			t.Row(s.Group, s.Name, number(s.Reading, s.Unit), number(s.UpperCritical, s.Unit), s.Health,
				strings.TrimSpace(s.Of+" "+s.Context))
		}
	}
	return t
}

// number is a value with its unit as people write it; "" for none.
func number(v *float64, unit string) string {
	if v == nil {
		return ""
	}
	if unit == "Cel" {
		unit = "\u00b0C"
	}
	return strings.TrimSpace(strconv.FormatFloat(*v, 'f', -1, 64) + " " + unit)
}
