package reference

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/flaggroup"
)

const generated = "<!-- Generated from the commands: go test ./cmd/ferrite -run Reference -update -->\n"

// CLI is the page of all commands below root, with usage, flags and examples.
func CLI(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Command line\n\n%s\n%s\n\n", generated, paragraph(root.Short))
	b.WriteString("Flags of all commands that ask a conductor:\n\n")
	flags(&b, root.PersistentFlags())
	for _, c := range root.Commands() {
		command(&b, c)
	}
	return b.String()
}

func command(b *strings.Builder, c *cobra.Command) {
	if c.IsAdditionalHelpTopicCommand() {
		fmt.Fprintf(b, "## %s\n\n%s\n\n```text\n%s\n```\n\n", c.CommandPath(), paragraph(c.Short), strings.TrimSpace(c.Long))
		return
	}
	if !c.IsAvailableCommand() {
		return
	}
	fmt.Fprintf(b, "## %s\n\n%s\n", c.CommandPath(), paragraph(c.Short))
	if c.Runnable() && !c.HasSubCommands() {
		fmt.Fprintf(b, "\n```text\n%s\n```\n", c.UseLine())
	}
	if c.Long != "" && c.Long != c.Short {
		fmt.Fprintf(b, "\n```text\n%s\n```\n", strings.TrimSpace(c.Long))
	}
	if c.Example != "" {
		fmt.Fprintf(b, "\nExamples:\n\n```text\n%s\n```\n", strings.Trim(c.Example, "\n"))
	}
	b.WriteString("\n")
	shown, all := flaggroup.Shown(c.LocalNonPersistentFlags())
	flags(b, shown)
	if all > 0 {
		b.WriteString("[Configuration](configuration.md) has all its settings.\n\n")
	}
	for _, below := range c.Commands() {
		command(b, below)
	}
}

// flags is a table of flags, without help, which every command has.
func flags(b *strings.Builder, set *pflag.FlagSet) {
	rows := 0
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if rows++; rows == 1 {
			b.WriteString("| flag | meaning | default |\n|---|---|---|\n")
		}
		name, usage := pflag.UnquoteUsage(f)
		flag := "--" + f.Name
		if f.Shorthand != "" {
			flag = "-" + f.Shorthand + ", " + flag
		}
		if name != "" {
			flag += " " + name
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", strings.ReplaceAll(flag, "|", `\|`), cell(usage), value(f.DefValue))
	})
	if rows > 0 {
		b.WriteString("\n")
	}
}

// value is a default as a cell shows it; nothing for an empty one.
func value(text string) string {
	if text == "" || text == "[]" {
		return ""
	}
	return "`" + text + "`"
}

// cell makes a text fit into a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(text)
}

func paragraph(text string) string { return strings.TrimSuffix(text, ".") + "." }
