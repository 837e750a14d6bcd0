package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestHelp: the --help of every command is that of testdata/help.txt.
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
	fmt.Fprintf(w, "$ %s --help\n", c.CommandPath())
	var help strings.Builder
	c.SetOut(&help)
	if err := c.Help(); err != nil {
		t.Fatal(err)
	}
	own, _, _ := strings.Cut(help.String(), "\nGlobal Flags:\n")
	fmt.Fprintln(w, own)
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			show(t, w, below)
		}
	}
}
