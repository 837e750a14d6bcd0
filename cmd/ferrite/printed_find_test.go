package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// printedText is a text that the program prints, with its place in the source.
type printedText struct{ place, text string }

// goTexts are the texts in the sources of the program, but for help texts, which the reference has: TestDocsParse reads
// those. Constants that are added to each other are one text; any other part of a sum is %s.
func goTexts(t *testing.T) (all []printedText) {
	t.Helper()
	files := token.NewFileSet()
	names := []string{"../../cmd/ferrite/cli/help.go", "../../cmd/ferrite/cli/internal/completion/"} // not printed
	for _, room := range []string{"agent", "cmd/ferrite", "conductor", "images", "proto", "pxe"} {
		err := filepath.WalkDir(filepath.Join("../..", room), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(path, name) }) {
				if e != nil && e.IsDir() && e.Name() == "node_modules" {
					return fs.SkipDir
				}
				return err
			}
			raw, err := os.ReadFile(path)
			if err != nil || !programName.Match(raw) {
				return err
			}
			f, err := parser.ParseFile(files, path, raw, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if pair, ok := n.(*ast.KeyValueExpr); ok {
					if key, ok := pair.Key.(*ast.Ident); ok && (key.Name == "Example" || key.Name == "Long") {
						return false
					}
				}
				text, ok := folded(n)
				if ok && !strings.HasPrefix(text, "  ferrite ") { // an example of a verb
					all = append(all, printedText{strings.TrimPrefix(files.Position(n.Pos()).String(), "../../"), text})
				}
				return !ok
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// folded is the text of a literal or a sum; ok is false for other nodes.
func folded(n ast.Node) (text string, ok bool) {
	switch n := n.(type) {
	case *ast.BasicLit:
		if n.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(n.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		if n.Op != token.ADD {
			return "", false
		}
		x, okX := folded(n.X)
		y, okY := folded(n.Y)
		if !okX && !okY {
			return "", false
		}
		if !okX {
			x = "%s"
		}
		if !okY {
			y = "%s"
		}
		return x + y, true
	}
	return "", false
}

// webTexts are the lines of the web interface's sources.
func webTexts(t *testing.T) (all []printedText) {
	t.Helper()
	root := filepath.Join("../..", "conductor/api/ui/web/src")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".ts") && !strings.HasSuffix(path, ".tsx") ||
			strings.Contains(path, ".test.") {
			return err
		}
		raw, err := os.ReadFile(path)
		for i, line := range strings.Split(string(raw), "\n") {
			if begin := strings.TrimSpace(line); !strings.HasPrefix(begin, "//") && !strings.HasPrefix(begin, "/*") &&
				!strings.HasPrefix(begin, "*") {
				all = append(all, printedText{strings.TrimPrefix(path, "../../") + ":" + strconv.Itoa(i+1),
					webValue.ReplaceAllString(line, "%s")})
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// scriptTexts are the commands of the packages' scripts.
func scriptTexts(t *testing.T) (all []printedText) {
	t.Helper()
	for _, name := range []string{"postinst", "prerm", "postrm"} {
		path := "cmd/ferrite-pack/files/" + name
		raw, err := os.ReadFile("../../" + path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(raw), "\n") {
			if !strings.HasPrefix(strings.TrimSpace(line), "#") {
				line, _, _ = strings.Cut(line, " #")
				all = append(all, printedText{path + ":" + strconv.Itoa(i+1), line})
			}
		}
	}
	return all
}

var (
	webValue    = regexp.MustCompile(`\$\{(?:[^{}]|\{[^{}]*\})*\}`)
	programName = regexp.MustCompile(`ferrite |journalctl |systemctl `)
	indexed     = regexp.MustCompile(`%\[\d+\]`)
	mention     = regexp.MustCompile("(?:^|[\\s\"'`(:;,>“])(?:/usr/bin/|bin/)?ferrite ([a-z%-][^\n]*)")
	argument    = regexp.MustCompile(`^(-.*|.*%[sdvq].*|[A-Z][A-Z0-9_=/|.-]*|.*\$\d.*|[a-z_-]+[.=].*|[0-9].*|/.*|\.\.\.)$`)
	wordEnd     = regexp.MustCompile("[`\"'”<)\x00].*$")
	ofSystemd   = regexp.MustCompile(`(?:systemctl (?:start|stop|restart|enable)|journalctl -u) (?:ferrite|%s)`)
	quotedEnd   = regexp.MustCompile("[`\"'”<]|\\)[,;. ]|\\)$")
)

// printedCommands are the commands in a text, from the program's name to their last argument.
func printedCommands(root *cobra.Command, text string) (all []string) {
	text = indexed.ReplaceAllString(text, "%")
	all = ofSystemd.FindAllString(text, -1)
	for {
		at := mention.FindStringSubmatchIndex(text)
		if at == nil {
			return all
		}
		rest := text[at[2]:]
		all = append(all, oneCommand(root, strings.SplitN(rest, "\n", 2)[0]))
		text = rest
	}
}

// oneCommand reads a command up to the first word that is no part of it.
func oneCommand(root *cobra.Command, text string) string {
	words, c, value := []string{"ferrite"}, root, false
	for word := range strings.SplitSeq(text, " ") {
		plain := strings.TrimRight(wordEnd.ReplaceAllString(word, ""), ".,;:'")
		if strings.Contains(word, "%") || strings.HasPrefix(word, "-") {
			plain = strings.TrimRight(strings.SplitN(quotedEnd.ReplaceAllString(word, "\x00"), "\x00", 2)[0], ".,;:")
		}
		if word == "..." {
			plain = word
		}
		if plain == "" {
			break
		}
		below := child(c, plain)
		takesWord := c.CommandPath() == "ferrite docs" && isPage(plain) || c.Name() == "help" && child(root, plain) != nil
		if below == nil && !value && !takesWord && !argument.MatchString(plain) && c != root {
			break
		}
		if below != nil {
			c = below
		}
		words = append(words, plain)
		value = takesValue(c, plain)
		if plain != word || c == root {
			break
		}
	}
	return strings.Join(words, " ")
}

// isPage reports whether a page of the documents has a name.
func isPage(name string) bool {
	for _, folder := range []string{"", "operate/"} {
		if _, err := os.Stat("../../docs/" + folder + name + ".md"); err == nil {
			return true
		}
	}
	return false
}

// takesValue reports whether a word is a flag with its value in the next word.
func takesValue(c *cobra.Command, word string) bool {
	_ = c.InheritedFlags() // which makes all flags known to c
	f := c.Flag(strings.TrimPrefix(word, "--"))
	if len(word) == 2 && word[0] == '-' {
		f = c.Flags().ShorthandLookup(word[1:])
	}
	return f != nil && strings.HasPrefix(word, "-") && f.NoOptDefVal == ""
}

// child is the command below c with a name.
func child(c *cobra.Command, name string) *cobra.Command {
	for _, below := range c.Commands() {
		if below.Name() == name {
			return below
		}
	}
	return nil
}
