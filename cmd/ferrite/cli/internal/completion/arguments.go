package completion

import (
	"strings"

	"github.com/spf13/cobra"
)

// argument is one argument of a command, by its word in the usage line.
type argument struct {
	word  string
	again bool // it can be repeated
	may   bool // it can be left out
}

// arguments reads the arguments off a usage line, up to the first flag:
// "add NODE TRAIT..." has NODE and, repeated, TRAIT.
func arguments(use string) (all []argument) {
	for i, text := range strings.Fields(use) {
		word := strings.Trim(text, "[]{}.")
		if strings.HasPrefix(word, "-") || word == "|" {
			break
		}
		if i > 0 { // the name of the command
			all = append(all, argument{word, strings.HasSuffix(strings.TrimRight(text, "]}"), "..."), text[0] == '['})
		}
	}
	return all
}

// Arguments is how many arguments a usage line has, and whether the last one repeats.
func Arguments(use string) (number int, repeats bool) {
	all := arguments(use)
	return len(all), len(all) > 0 && all[len(all)-1].again
}

// Args checks the number of arguments by a usage line.
func Args(use string) cobra.PositionalArgs {
	most, repeats := Arguments(use)
	least := most
	for _, a := range arguments(use) {
		if a.may {
			least--
		}
	}
	switch {
	case repeats:
		return cobra.MinimumNArgs(least)
	case most == 0:
		return cobra.NoArgs
	}
	return cobra.RangeArgs(least, most)
}

// at is the word of the argument at a place.
func at(all []argument, place int) (string, bool) {
	if place < len(all) {
		return all[place].word, true
	}
	last := all[len(all)-1]
	return last.word, last.again
}

// argumentSource lists the possible values of an argument; nil for free text.
func argumentSource(cmd *cobra.Command, word string) source {
	switch cmd.CommandPath() {
	case "ferrite lease delete":
		return leases
	case "ferrite lease reserve":
		if word == "MAC" {
			return addresses
		}
		return nil
	case "ferrite node trait add", "ferrite runbook trait add":
		if word == "TRAIT" {
			return traitsInUse
		}
	}
	return map[string]source{
		"NODE":       nodes,
		"NODE|UUID":  nodes,
		"ALLOCATION": records("allocations", "state"),
		"CONDUCTOR":  conductors,
		"CHASSIS":    records("chassis", "description"),
		"CONNECTOR":  records("volume/connectors", "connector_id"),
		"DEVICE":     bootDevices,
		"DRIVER":     drivers,
		"EVENT":      ofNode("history", "history", "uuid"),
		"IMAGE":      images,
		"INDICATOR":  ofNode("management/indicators", "indicators", "name"),
		"KEY=HINT":   hints,
		"METHOD":     methods,
		"SETTING":    ofNode("bios", "bios", "name"),
		"VIF":        ofNode("vifs", "vifs", "id"),
		"PORT":       records("ports", "address"),
		"PORTGROUP":  records("portgroups", "address"),
		"RULE":       records("inspection_rules", "description"),
		"RUNBOOK":    records("runbooks", "description"),
		"TARGET":     records("volume/targets", "volume_id"),
		"TEMPLATE":   records("deploy_templates", ""),
		"TRAIT":      traitsOfFirst,
	}[word]
}
