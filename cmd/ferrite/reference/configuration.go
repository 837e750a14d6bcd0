package reference

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/flaggroup"
)

// Configuration is the page of the settings of serve: flag, key in the file and
// environment variable have one name in three spellings. The settings of its short help come first.
func Configuration(serve *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Configuration\n\n%s\n", generated)
	b.WriteString("`ferrite serve` takes each setting as a flag, as a `FERRITE_` variable, or as a key of the YAML " +
		"file that\n" +
		"`--config` names. A flag beats the variable, and the variable beats the file.\n" +
		"An empty variable counts as none. Times may begin with days: `7d12h`.\n")
	first, _ := flaggroup.Shown(serve.Flags())
	table(&b, "## Set these first\n\nA site sets some of these keys, and few of the others. `ferrite serve --help` "+
		"shows the same ones,\n`ferrite serve --help-all` shows all. The sections below have every key.", first)
	titles, groups := flaggroup.Titles(serve.Flags())
	for _, title := range titles {
		table(&b, "## "+title, groups[title])
	}
	return b.String()
}

// table writes the settings of a set below a heading; nothing for a set without settings.
func table(b *strings.Builder, heading string, flags *pflag.FlagSet) {
	rows := 0
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || f.Name == flaggroup.All {
			return
		}
		if rows++; rows == 1 {
			fmt.Fprintf(b, "\n%s\n\n| key | variable | meaning | default |\n|---|---|---|---|\n", heading)
		}
		_, usage := pflag.UnquoteUsage(f)
		variable := "FERRITE_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		fmt.Fprintf(b, "| `%s` | `%s` | %s | %s |\n", f.Name, variable, cell(usage), value(f.DefValue))
	})
}
