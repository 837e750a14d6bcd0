package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/flaggroup"
)

// flagUsages are the flags of a command for its help, in groups where it has any.
func flagUsages(cmd *cobra.Command) string {
	local := cmd.LocalFlags()
	if shown, all := flaggroup.Shown(local); all > 0 {
		return fmt.Sprintf("%s\nAll %d: %s --%s, or ferrite docs configuration", shown.FlagUsagesWrapped(helpColumns), all,
			cmd.CommandPath(), flaggroup.All)
	}
	titles, groups := flaggroup.Titles(local)
	if len(titles) < 2 {
		return strings.TrimRight(local.FlagUsagesWrapped(helpColumns), "\n")
	}
	var b strings.Builder
	for _, title := range titles {
		fmt.Fprintf(&b, "\n%s:\n%s", cmp.Or(title, "Other"), groups[title].FlagUsagesWrapped(helpColumns))
	}
	return strings.Trim(b.String(), "\n")
}

// hasCommonFlags reports whether a command has the flags of all that ask a conductor.
func hasCommonFlags(cmd *cobra.Command) bool {
	common := cmd.InheritedFlags().Lookup("url")
	return common != nil && !common.Hidden
}

// inheritedUsages are the flags of a command's group, without those that every command has.
func inheritedUsages(cmd *cobra.Command) string {
	group := pflag.NewFlagSet("group", pflag.ContinueOnError)
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		if cmd.Root().PersistentFlags().Lookup(f.Name) != f {
			group.AddFlag(f)
		}
	})
	return strings.TrimRight(group.FlagUsagesWrapped(helpColumns), "\n")
}

// helpTemplate is the help of a command: its text and its usage, as wide as the screen.
const helpTemplate = `{{with or .Long .Short}}{{. | trimTrailingWhitespaces | flow}}

{{end}}{{if or .Runnable .HasSubCommands}}{{.UsageString | fit}}{{end}}`

// helpColumns is how wide the help of flags is.
const helpColumns = 80

// helpCommand is ferrite help: it finds a command also by its name alone.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND...]",
		Short:   "Help about a command or a topic",
		Example: "  ferrite help deploy\n  ferrite help node power\n  ferrite help exit-codes",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			c, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, below := range c.Commands() {
				if below.IsAvailableCommand() || below.IsAdditionalHelpTopicCommand() {
					names = append(names, below.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, rest, err := cmd.Root().Find(args)
			if err == nil && (len(rest) == 0 || c != cmd.Root() && !c.HasSubCommands()) {
				return c.Help()
			}
			if c == nil || len(rest) == 0 {
				c, rest = cmd.Root(), args
			}
			if meant := meantBy(c, rest[0]); len(meant) == 1 {
				return meant[0].Help()
			}
			return unknownCommand(c, rest)
		},
	}
}

// topics are pages of help that are no commands.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "The exit statuses of ferrite", Long: exitCodes()},
		{Use: "output", Short: "Output formats of -o", Long: outputHelp},
	}
}

func exitCodes() string {
	var b strings.Builder
	b.WriteString("The exit status shows scripts how a command ended:\n\n")
	for _, m := range exit.Meanings() {
		fmt.Fprintf(&b, "  %3d   %s\n", m.Code, m.Text)
	}
	b.WriteString("\nOf several nodes that end differently, the first that did not end well counts.")
	return b.String()
}

const outputHelp = `-o, --output is one of these:

  table               columns that fit the terminal; a file or a pipe gets them in full (default)
  wide                all columns and fields, also the empty ones
  name                a name in each line, for other commands
  json, yaml          the answer of the conductor
  jsonpath=TEMPLATE   parts of the answer

A template is text with paths in braces, as kubectl has it: {.name}, {[*].uuid},
{range [*]}{.name}{"\n"}{end}. A path is one of RFC 9535; a list begins with [*] or [0]:

  ferrite node show m1 -o jsonpath='{.driver_info.redfish_address}'
  ferrite node list --long -o jsonpath='{range [*]}{.name} {.provision_state}{"\n"}{end}'
  ferrite node list --long -o jsonpath='{[?@.power_state=="power on"].name}'

A path to one field that is not there is an error; a range, a wildcard or a filter may find none.

Commands that change something print a sentence about it. With json, yaml, name and jsonpath,
sentences and progress go to standard error. Colours are for terminals; NO_COLOR=1 switches
them off. Times of tables are those of this computer's zone (TZ).`

// usageTemplate is cobra's template, with a line in place of the flags that every command has.
const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]{{end}}{{if gt (len .Aliases) 0}}

Aliases:
  {{.NameAndAliases}}{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}{{$cmds := .Commands}}{{if eq (len .Groups) 0}}

Available Commands:{{range $cmds}}{{if (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{else}}{{range $group := .Groups}}

{{.Title}}{{range $cmds}}{{if (and (eq .GroupID $group.ID) (or .IsAvailableCommand (eq .Name "help")))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{flags .}}{{end}}{{if .HasHelpSubCommands}}

Topics:{{range .Commands}}{{if .IsAdditionalHelpTopicCommand}}
  {{rpad .CommandPath .CommandPathPadding}} {{.Short}}{{end}}{{end}}{{end}}{{with inherited .}}

Flags of all its commands:
{{.}}{{end}}{{if asks .}}

Flags of every command, such as --url and --output: ferrite --help{{end}}{{if .HasAvailableSubCommands}}

Use "{{.CommandPath}} [command] --help" for more about a command.{{end}}
`
