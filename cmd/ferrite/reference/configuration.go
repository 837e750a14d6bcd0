package reference

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/flaggroup"
)

// Configuration is the page of the settings of serve: flag, key in the file and
// environment variable have one name in three spellings.
func Configuration(serve *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Configuration\n\n%s\n", generated)
	b.WriteString("`ferrite serve` takes each setting as a flag, as a `FERRITE_` variable, or as a key of the YAML " +
		"file that\n" +
		"`--config` names. A flag beats the variable, and the variable beats the file.\n" +
		"`ferrite serve --help` shows the settings that a site needs first, `ferrite serve --help-all` all of them.\n")
	titles, groups := flaggroup.Titles(serve.Flags())
	for _, title := range titles {
		rows := 0
		groups[title].VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" || f.Name == flaggroup.All {
				return
			}
			if rows++; rows == 1 {
				fmt.Fprintf(&b, "\n## %s\n\n| key | variable | meaning | default |\n|---|---|---|---|\n", title)
			}
			_, usage := pflag.UnquoteUsage(f)
			variable := "FERRITE_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
			fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", f.Name, variable, cell(usage), value(f.DefValue))
		})
	}
	return b.String()
}
