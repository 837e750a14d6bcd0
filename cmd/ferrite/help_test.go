package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/flaggroup"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// layouts are the leaf commands with help in testdata/help.txt: one as most are, and one with its flags in groups.
var layouts = []string{"ferrite node deploy", "ferrite serve"}

// TestHelp: the --help of commands is laid out as in testdata/help.txt: all that list others, and the layouts. The
// texts and flags of every command are in docs/cli.md, which TestReference compares.
func TestHelp(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	show(t, &got, program())
	text := strings.ReplaceAll(got.String(), fmt.Sprintf("(default %q)", host), `(default "HOSTNAME")`)

	const file = "testdata/help.txt"
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// show writes the help of a command and of those below it, with the flags that
// all commands share once.
func show(t *testing.T, w *strings.Builder, c *cobra.Command) {
	if c.HasAvailableSubCommands() || slices.Contains(layouts, c.CommandPath()) {
		fmt.Fprintf(w, "$ %s --help\n", c.CommandPath())
		var help strings.Builder
		c.SetOut(&help)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		own, _, _ := strings.Cut(help.String(), "\nGlobal Flags:\n")
		fmt.Fprintln(w, own)
	}
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			show(t, w, below)
		}
	}
}

// TestHelpAll: the long help of serve has every flag, the short one the first of them.
func TestHelpAll(t *testing.T) {
	for flag, long := range map[string]bool{"--help": false, "--" + flaggroup.All: true} {
		root := program()
		var help strings.Builder
		root.SetOut(&help)
		root.SetArgs([]string{"serve", flag})
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		serve, _, err := root.Find([]string{"serve"})
		if err != nil {
			t.Fatal(err)
		}
		shown := 0
		serve.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if strings.Contains(help.String(), " --"+f.Name+" ") {
				shown++
			} else if long {
				t.Errorf("serve %s has no --%s", flag, f.Name)
			}
		})
		if !long && (shown < 20 || shown > 25) {
			t.Errorf("serve %s has %d flags, expected the first twenty", flag, shown)
		}
	}
}

// TestHelpFits: on a terminal of 80 columns, no line of any help is longer.
func TestHelpFits(t *testing.T) {
	var linux sys.Linux
	pty, tty, err := linux.OpenPTY()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = pty.Close(), tty.Close() }()
	const columns = 80
	if err := linux.SetWindow(pty, columns, 24); err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = tty // which the help is fitted to
	root := program()
	os.Stdout = stdout
	fits(t, root, columns)
}

// fits checks the help of a command and of those below it.
func fits(t *testing.T, c *cobra.Command, columns int) {
	var help strings.Builder
	c.SetOut(&help)
	if err := c.Help(); err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(help.String(), "\n") {
		if n := len([]rune(line)); n > columns {
			t.Errorf("%s --help: a line of %d columns: %s", c.CommandPath(), n, line)
		}
	}
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() || below.IsAdditionalHelpTopicCommand() {
			fits(t, below, columns)
		}
	}
}
