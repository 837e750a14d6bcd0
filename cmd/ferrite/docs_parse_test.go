package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// TestDocsParse: each ferrite command on a page has a name, flags and arguments that the program knows.
func TestDocsParse(t *testing.T) {
	seen := 0
	for path, page := range pages(t) {
		for _, b := range blocks(page) {
			if b.info == unclosed {
				t.Errorf("%s:%d: this block has no end: expected a line of ``` or -->", path, b.line)
			}
			if b.info != "" && !strings.HasPrefix(b.info, "sh") {
				continue
			}
			found, err := commands(b.script)
			if err != nil && b.info != "" {
				t.Errorf("%s:%d: no shell script: %v", path, b.line, err)
			}
			for _, words := range found {
				seen++
				if err := parses(words); err != nil {
					t.Errorf("%s:%d: %s: %v", path, b.line, strings.Join(words, " "), err)
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("the pages have %d ferrite commands; expected more than a hundred", seen)
	}
}

// TestDocsPasswords: no command of a page has a password in it, since other users of a computer can read command lines.
// A variable and a file may be named.
func TestDocsPasswords(t *testing.T) {
	files := regexp.MustCompile(`--[a-z-]*-file[ =]\S+`)
	shown := regexp.MustCompile(`(?i)(?:password|passphrase)=(?:[^\s$"\x60]|"[^$])|--[a-z-]*(?:password|passphrase)[ =][^-#\s]`)
	for _, bad := range []string{"ferrite node set m1 --driver-info redfish_password=words", "export OS_PASSWORD=words",
		"ferrite x --password words", `ferrite x --driver-info ipmi_password="words"`} {
		if !shown.MatchString(files.ReplaceAllString(bad, "")) {
			t.Errorf("a page may have: %s", bad)
		}
	}
	for path, page := range pages(t) {
		for _, b := range blocks(page) {
			if b.hidden {
				continue
			}
			for i, line := range strings.Split(b.script, "\n") {
				if shown.MatchString(files.ReplaceAllString(line, "")) {
					t.Errorf("%s:%d: a password on a command line: name a file, or have it asked for: %s", path, b.line+i, line)
				}
			}
		}
	}
}

// commands are the calls of ferrite in a script.
func commands(script string) (of [][]string, err error) {
	all, err := calls(script)
	for _, words := range all {
		if name := words[0]; name == "ferrite" || name == "bin/ferrite" {
			of = append(of, words[1:])
		}
	}
	return of, err
}

// calls are the calls of programs in a script.
func calls(script string) (all [][]string, err error) {
	f, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, err
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			words := make([]string, len(call.Args))
			for i, w := range call.Args {
				words[i] = text(w)
			}
			all = append(all, words)
		}
		return true
	})
	return all, nil
}

// text is a word without its quotes. An expansion stands for any value.
func text(w *syntax.Word) string {
	var s strings.Builder
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			s.WriteString(n.Value)
		case *syntax.SglQuoted:
			s.WriteString(n.Value)
		case *syntax.ParamExp, *syntax.CmdSubst:
			s.WriteString("value")
			return false
		}
		return true
	})
	return s.String()
}

func parses(words []string) error {
	root := program()
	root.InitDefaultCompletionCmd(words...)
	root.InitDefaultHelpCmd()
	c, rest, err := root.Find(words)
	switch {
	case err != nil:
		return err
	case len(words) > 0 && c == root && words[0] != "help" && !strings.HasPrefix(words[0], "-"):
		return fmt.Errorf("unknown command %q", words[0])
	case c.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-"):
		return fmt.Errorf("%s has no command %q", c.CommandPath(), rest[0])
	}
	c.InitDefaultHelpFlag()
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	if help, err := c.Flags().GetBool("help"); err == nil && help || !c.Runnable() {
		return nil
	}
	if err := c.ValidateRequiredFlags(); err != nil {
		return err
	}
	return c.ValidateArgs(c.Flags().Args())
}
