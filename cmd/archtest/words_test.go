package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wordBudget has two rows for each top-level folder, and four for pages: how many comment blocks and, as FOLDER:texts,
// how many texts of its programs, or how many paragraphs, may contain a vague word; as literal:PAGES, a literal one.
const wordBudget = "testdata/words.txt"

// vague are the pronouns and verbs that hide the subject of a sentence. CONTRIBUTING.md shows better sentences.
var vague = regexp.MustCompile(
	`(?i)\b(what|whatever|who|whose|whom|nobody|somebody|tells?|told|one\s+that|those\s+of|that\s+of)\b`)

// literal are words that a page translates from another language. The plain ones: it continues, contains, repairs,
// requests, takes over.
var literal = regexp.MustCompile(`(?i)\b((go|goes|going|went)\s+on|(has|have|had)\s+it|mend(s|ed|ing)?|` +
	`ask(s|ed|ing)?\s+for|(take|takes|took|taken)\s+(it|them|one)\s+up|hand(s|ed)?\s+in)\b`)

// TestWords counts comment blocks, texts and paragraphs with vague words. A block is a comment group of go/ast:
// adjacent lines, in production files and in tests. A text is a string literal of a production file with a space. The
// count of a row may fall but not rise; `-update` lowers the budget and never raises it.
func TestWords(t *testing.T) {
	t.Parallel()
	all, found := map[string]int{}, map[string][]string{}
	every := func(p string) bool { return strings.HasSuffix(p, ".go") }
	walk(t, every, func(_ string, f file) {
		folder, _, _ := strings.Cut(f.path, "/")
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, filepath.Join("../..", f.path), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		all[folder] += len(parsed.Comments)
		found[folder] = append(found[folder], vagueBlocks(set, parsed)...)
		if row := folder + ":texts"; !strings.HasSuffix(f.path, "_test.go") {
			texts, lines := vagueTexts(set, parsed)
			all[row] += texts
			found[row] = append(found[row], lines...)
		}
	})
	for _, page := range pages(t) {
		row := "*.md"
		if folder, _, deep := strings.Cut(page, "/"); deep {
			row = folder + "/*.md"
		}
		for row, words := range map[string]*regexp.Regexp{row: vague, "literal:" + row: literal} {
			paragraphs, lines := paragraphsWith(t, page, words)
			all[row] += paragraphs
			found[row] = append(found[row], lines...)
		}
	}
	budget := readBudget(t)
	for row, texts := range all {
		n, most := len(found[row]), budget[row]
		t.Logf("%s: %d of %d texts, %.1f %%", row, n, texts, 100*float64(n)/float64(texts))
		if n > most {
			t.Errorf("%s has %d comment blocks, texts or paragraphs with vague or literal words, but its budget in "+
				"cmd/archtest/%s is %d. "+
				"Give the new sentences a noun and an active verb (CONTRIBUTING.md, \"How we write\"), or better some old ones. "+
				"Code that moves between top-level folders takes its number along: change both rows. The first ones:\n%s",
				row, n, wordBudget, most, strings.Join(found[row][:min(n, 8)], "\n"))
		}
		if n < most && !*update {
			t.Logf("%s is %d below its budget: `go test ./cmd/archtest -update` lowers it", row, most-n)
		}
		budget[row] = min(n, most)
	}
	if *update {
		writeBudget(t, budget)
	}
}

// pages lists the Markdown files of the top level and of docs/. Entries of the changelog stay as they were written.
func pages(t *testing.T) (found []string) {
	t.Helper()
	house := os.DirFS("../..")
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		names, err := fs.Glob(house, pattern)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, names...)
	}
	return slices.DeleteFunc(found, func(page string) bool { return page == "CHANGELOG.md" })
}

// notProse are the parts of a page that are no sentences of ours: pages and tables that a test writes, blocks of
// commands and output, comments, code, and the targets of links.
var notProse = regexp.MustCompile("(?ms)<!-- [Gg]enerated (from|by).*|<!-- generated: .*?<!-- end of generated: " +
	".*?-->|^ *```.*?^ *```$|<!--.*?-->|`[^`\n]*`|\\]\\([^)\n]*\\)")

// paragraphsWith counts the paragraphs of a page, a row of a table as one, and returns a line for each with one of some
// words.
func paragraphsWith(t *testing.T, page string, words *regexp.Regexp) (paragraphs int, lines []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../..", page))
	if err != nil {
		t.Fatal(err)
	}
	prose := notProse.ReplaceAllStringFunc(string(b), func(part string) string {
		return strings.Repeat("\n", strings.Count(part, "\n")) // so that lines keep their numbers
	})
	var text string
	for i, line := range strings.Split(prose+"\n\n", "\n") {
		if (line == "" || strings.HasPrefix(line, "|")) && strings.TrimSpace(text) != "" {
			paragraphs++
			if word := words.FindString(text); word != "" {
				lines = append(lines, fmt.Sprintf("%s:%d: %q in the paragraph that ends here", page, i, word))
			}
			text = ""
		}
		text += line + "\n"
	}
	return paragraphs, lines
}

// vagueBlocks returns a line for each comment block of a file with a vague word.
func vagueBlocks(set *token.FileSet, parsed *ast.File) (lines []string) {
	for _, block := range parsed.Comments {
		text := block.Text()
		if word := vague.FindString(text); word != "" {
			first, _, _ := strings.Cut(text, "\n")
			lines = append(lines, fmt.Sprintf("%s: %q in: %s", set.Position(block.Pos()), word, first))
		}
	}
	return lines
}

// vagueTexts counts the texts of a file, and returns a line for each with a vague word.
func vagueTexts(set *token.FileSet, parsed *ast.File) (texts int, lines []string) {
	ast.Inspect(parsed, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if field, isField := n.(*ast.Field); isField {
			field.Tag = nil
		}
		if !ok || literal.Kind != token.STRING || !strings.Contains(literal.Value, " ") {
			return true
		}
		texts++
		if word := vague.FindString(literal.Value); word != "" {
			lines = append(lines, fmt.Sprintf("%s: %q in: %.100s", set.Position(literal.Pos()), word, literal.Value))
		}
		return true
	})
	return texts, lines
}

func readBudget(t *testing.T) map[string]int {
	t.Helper()
	b, err := os.ReadFile(wordBudget)
	if err != nil {
		t.Fatal(err)
	}
	budget := map[string]int{}
	for line := range strings.Lines(string(b)) {
		var folder string
		var most int
		if _, err := fmt.Sscanf(line, "%s %d", &folder, &most); err != nil {
			t.Fatalf("%s: %q is not a folder and a number: %v", wordBudget, line, err)
		}
		budget[folder] = most
	}
	return budget
}

func writeBudget(t *testing.T, budget map[string]int) {
	t.Helper()
	var lines []string
	for folder, most := range budget {
		lines = append(lines, fmt.Sprintf("%s %d\n", folder, most))
	}
	slices.SortFunc(lines, cmp.Compare[string])
	if err := os.WriteFile(wordBudget, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}
