package archtest

import (
	"cmp"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wordBudget has a row for each top-level folder: how many of its comment blocks may contain a vague word.
const wordBudget = "testdata/words.txt"

// vague are the pronouns and verbs that hide the subject of a sentence. CONTRIBUTING.md shows better sentences.
var vague = regexp.MustCompile(
	`(?i)\b(what|whatever|who|whose|whom|nobody|somebody|tells?|told|one\s+that|those\s+of|that\s+of)\b`)

// TestWords counts comment blocks with vague words, in production files and in tests. A block is a comment group of
// go/ast: adjacent lines. The count of a folder may fall but not rise; `-update` lowers the budget and never raises it.
func TestWords(t *testing.T) {
	t.Parallel()
	all, found := map[string]int{}, map[string][]string{}
	every := func(p string) bool { return strings.HasSuffix(p, ".go") }
	walk(t, every, func(_ string, f file) {
		folder, _, _ := strings.Cut(f.path, "/")
		blocks, lines := vagueBlocks(t, f.path)
		all[folder] += blocks
		found[folder] = append(found[folder], lines...)
	})
	budget := readBudget(t)
	for folder, blocks := range all {
		n, most := len(found[folder]), budget[folder]
		t.Logf("%s: %d of %d comment blocks, %.1f %%", folder, n, blocks, 100*float64(n)/float64(blocks))
		if n > most {
			t.Errorf("%s has %d comment blocks with vague words, but its budget in cmd/archtest/%s is %d. Give the new "+
				"sentences a noun and an active verb (CONTRIBUTING.md, \"How we write\"), or better some old ones. Code that "+
				"moves between top-level folders takes its number along: change both rows. The first blocks:\n%s",
				folder, n, wordBudget, most, strings.Join(found[folder][:min(n, 8)], "\n"))
		}
		if n < most && !*update {
			t.Logf("%s is %d below its budget: `go test ./cmd/archtest -update` lowers it", folder, most-n)
		}
		budget[folder] = min(n, most)
	}
	if *update {
		writeBudget(t, budget)
	}
}

// vagueBlocks counts the comment blocks of a file, and returns a line for each block with a vague word.
func vagueBlocks(t *testing.T, path string) (blocks int, lines []string) {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, filepath.Join("../..", path), nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range parsed.Comments {
		text := block.Text()
		if word := vague.FindString(text); word != "" {
			first, _, _ := strings.Cut(text, "\n")
			lines = append(lines, fmt.Sprintf("%s:%d: %q in: %s", path, set.Position(block.Pos()).Line, word, first))
		}
	}
	return len(parsed.Comments), lines
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
