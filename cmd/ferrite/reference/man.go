package reference

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Man is the man pages of all commands, by file name. The help texts are laid
// out by hand, so only sentences are filled anew: cobra's own writer of man pages
// reads them as Markdown, joins their lines, and needs two modules more.
func Man(root *cobra.Command) map[string]string {
	pages := map[string]string{}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	addMan(pages, root)
	return pages
}

func addMan(pages map[string]string, c *cobra.Command) {
	pages[manName(c)+".1"] = manPage(c)
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			addMan(pages, below)
		}
	}
}

// manName is the name of the page of a command: ferrite-node-deploy.
func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

func manPage(c *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 \"\" \"Ferrite %s\" \"Ferrite\"\n", strings.ToUpper(manName(c)), c.Root().Version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(c)), roff(c.Short))
	b.WriteString(".SH SYNOPSIS\n")
	switch {
	case c.HasAvailableSubCommands():
		fmt.Fprintf(&b, ".B %s\nCOMMAND\n", roff(c.CommandPath()))
	default:
		usage := strings.TrimPrefix(c.UseLine(), c.CommandPath())
		fmt.Fprintf(&b, ".B %s\n%s\n", roff(c.CommandPath()), roff(strings.TrimSpace(usage)))
	}
	if c.Long != "" {
		fmt.Fprintf(&b, ".SH DESCRIPTION\n%s", described(c.Long))
	}
	if c.HasAvailableSubCommands() {
		b.WriteString(".SH COMMANDS\n")
		for _, below := range c.Commands() {
			if below.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", roff(manName(below)), roff(below.Short))
			}
		}
	}
	manFlags(&b, "OPTIONS", c.LocalFlags())
	manFlags(&b, "OPTIONS OF ALL COMMANDS", c.InheritedFlags())
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n%s", verbatim(c.Example))
	}
	if c.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", roff(manName(c.Parent())))
	} else {
		b.WriteString(".SH SEE ALSO\nferrite docs prints the documentation.\n")
	}
	return b.String()
}

func manFlags(b *strings.Builder, title string, set *pflag.FlagSet) {
	if !set.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		flag := "--" + f.Name
		if f.Shorthand != "" {
			flag = "-" + f.Shorthand + ", " + flag
		}
		if value := f.DefValue; f.Name != "host" && value != "" && value != "[]" && value != "false" {
			usage += " (default " + value + ")"
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(flag+" "+name)), roff(usage))
	})
}

// manColumns is the width of a terminal of 80 columns without the indent of a man page.
const manColumns = 71

// described is a text with filled paragraphs where a line is longer than a terminal is wide. Other lines stay as they
// are: lists, commands, examples.
func described(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if sentences(part) {
			b.WriteString(roff(part) + "\n")
		} else {
			b.WriteString(verbatim(part))
		}
	}
	return b.String()
}

// sentences reports a paragraph that is too wide, and has no line with an indent.
func sentences(part string) (wide bool) {
	for line := range strings.SplitSeq(part, "\n") {
		if strings.HasPrefix(line, " ") {
			return false
		}
		wide = wide || len([]rune(line)) > manColumns
	}
	return wide
}

// verbatim is a text with its lines kept as they are.
func verbatim(text string) string {
	return ".nf\n" + roff(strings.Trim(text, "\n")) + "\n.fi\n"
}

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\(ga", "^", `\(ha`, "~", `\(ti`)

// roff escapes a text, and a dot at the beginning of a line, which would begin a request.
func roff(text string) string {
	lines := strings.Split(roffEscapes.Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
