package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/reference"
)

// manLine is a line of a man page: a request that Man writes, or text with known escapes only.
var manLine = regexp.MustCompile(
	`^(\.(TH "[A-Z-]+" 1 .*|SH [A-Z ]+|TP|BR? .*|PP|nf|fi)|([^.'\\]|\\[e&-]|\\\((aq|ga|ha|ti))?([^\\]|\\[e&-]|\\\((aq|ga|ha|ti))*)$`)

// TestMan: every command has a man page with its sections, and man reads it without a warning.
func TestMan(t *testing.T) {
	root := program()
	pages := reference.Man(root)
	commands := 0
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		commands++
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		text := pages[name]
		for _, section := range []string{"NAME", "SYNOPSIS", "SEE ALSO"} {
			if !strings.Contains(text, "\n.SH "+section+"\n") {
				t.Errorf("%s has no section %s", name, section)
			}
		}
		for i, line := range strings.Split(text, "\n") {
			if !manLine.MatchString(line) {
				t.Errorf("%s:%d: no line of a man page: %q", name, i+1, line)
			}
		}
		for _, below := range c.Commands() {
			if below.IsAvailableCommand() {
				check(below)
			}
		}
	}
	check(root)
	if len(pages) != commands || commands < 100 {
		t.Errorf("%d pages of %d commands; expected one each, and more than a hundred", len(pages), commands)
	}
	groff(t, pages)
	filled(t, pages["ferrite-node-deploy.1"])
}

// filled looks whether sentences fit a terminal, and lists stay lines.
func filled(t *testing.T, page string) {
	t.Helper()
	if verbatim := ".nf\n  a folder with meta_data.json"; !strings.Contains(page, verbatim) {
		t.Errorf("the list of config drives is not kept as it is:\n%s", page)
	}
	if sentence := ".SH DESCRIPTION\nWrite an operating system"; !strings.Contains(page, sentence) {
		t.Errorf("the first sentence is not filled:\n%s", page)
	}
}

// groff reads the pages where it is installed.
func groff(t *testing.T, pages map[string]string) {
	t.Helper()
	if _, err := exec.LookPath("groff"); err != nil {
		t.Log("groff is not installed; the pages are checked line by line alone")
		return
	}
	dir := t.TempDir()
	args := []string{"-man", "-ww", "-z", "-Tascii"}
	for name, text := range pages {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	out, err := exec.Command("groff", args...).CombinedOutput()
	if lines := strings.TrimSpace(string(out)); err != nil || lines != "" {
		t.Errorf("groff: %v\n%.2000s", err, lines)
	}
}
