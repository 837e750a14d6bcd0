package redfish_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	lab "github.com/ferrite-metal/ferrite/lab/redfish"
)

// quirkChecks are those that show a boot override.
var quirkChecks = []string{"boot device", "boot mode", "boot device and mode", bootsVirtualCD}

// TestEveryQuirkIsNeeded drives a personality under each manufacturer's name of the table: with the whole table it
// passes, without the row it does not.
func TestEveryQuirkIsNeeded(t *testing.T) {
	rows := redfish.Quirks()
	for i, row := range rows {
		t.Run(string(row.Quirk)+" of "+row.Manufacturer, func(t *testing.T) {
			t.Parallel()
			without := slices.Delete(slices.Clone(rows), i, i+1)
			for _, p := range personalitiesOf(rows, row.Quirk) {
				p.Manufacturer = strings.TrimSuffix(row.Manufacturer, "*")
				if _, fails := runChecks(t, p, rows, quirkChecks); len(fails) > 0 {
					continue
				}
				if _, fails := runChecks(t, p, without, quirkChecks); len(fails) > 0 {
					return
				}
			}
			t.Error("no personality passes with the row and fails without it: remove the row, or add the deviation")
		})
	}
}

// personalitiesOf lists the personalities that have a quirk by the table.
func personalitiesOf(rows []redfish.QuirkRow, q redfish.Quirk) (all []lab.Personality) {
	for _, p := range lab.Personalities() {
		if slices.ContainsFunc(redfish.QuirksOf(rows, p.Manufacturer, p.Model, p.FirmwareVersion),
			func(r redfish.QuirkRow) bool { return r.Quirk == q }) {
			all = append(all, p)
		}
	}
	return all
}
