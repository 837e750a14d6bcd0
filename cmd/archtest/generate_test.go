package archtest

import (
	"flag"
	"fmt"
	"go/doc"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write ARCHITECTURE.md and docs/design/packages.md, and lower words.txt")

// TestGenerated: the pages agree with the tables and the packages.
func TestGenerated(t *testing.T) {
	for _, g := range []struct{ page, block, text string }{
		{"../../ARCHITECTURE.md", "imports", table()},
		{"../../docs/design/packages.md", "packages", packages(t)},
	} {
		begin, end := "<!-- generated: "+g.block+" -->\n", "<!-- end of generated: "+g.block+" -->"
		b, err := os.ReadFile(g.page)
		if err != nil {
			t.Fatal(err)
		}
		head, rest, ok := strings.Cut(string(b), begin)
		was, tail, ended := strings.Cut(rest, end)
		if !ok || !ended {
			t.Fatalf("%s: no %q and %q", g.page, begin, end)
		}
		if diff := cmp.Diff(g.text, was); diff != "" && !*update {
			t.Errorf("%s differs from the code (-code +page); `go test ./cmd/archtest -update` writes it:\n%s", g.page, diff)
		}
		if *update {
			if err := os.WriteFile(g.page, []byte(head+begin+g.text+end+tail), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// packages lists the packages by room, each with the first sentence of its comment.
func packages(t *testing.T) string {
	t.Helper()
	of := map[string]map[string]string{}
	walk(t, production, func(dir string, f file) {
		if f.doc == nil || isForTests(dir) {
			return
		}
		in := roomOf(dir).path
		if of[in] == nil {
			of[in] = map[string]string{}
		}
		words := strings.SplitN(new(doc.Package).Synopsis(f.doc.Text()), " ", 3) // Package, its name, and the sentence
		of[in][dir] = words[len(words)-1]
	})
	var b strings.Builder
	for _, r := range rooms {
		fmt.Fprintf(&b, "\n### %s\n\n", r.path)
		for _, dir := range slices.Sorted(maps.Keys(of[r.path])) {
			fmt.Fprintf(&b, "- `%s` %s\n", dir, of[r.path][dir])
		}
	}
	return b.String() + "\n"
}

// table is the rooms in Markdown.
func table() string {
	var b strings.Builder
	b.WriteString("| room | may import | open first | holds |\n|---|---|---|---|\n")
	for _, r := range rooms {
		fmt.Fprintf(&b, "| %s | %s | [%s](%s) | %s |\n", r.path, names(r.may), path.Base(r.open), path.Join(r.path, r.open),
			r.why)
	}
	return b.String()
}

// names lists rooms in short: the core and the extras in one word, and the rest without their folder.
func names(may []string) string {
	var words []string
	for _, group := range []string{"core", "extras"} {
		all := list(group)
		if !slices.ContainsFunc(all, func(r string) bool { return !slices.Contains(may, r) }) {
			words = append(words, "*"+group+"*")
			may = slices.DeleteFunc(slices.Clone(may), func(r string) bool { return slices.Contains(all, r) })
		}
	}
	for _, r := range may {
		words = append(words, strings.TrimPrefix(r, "conductor/"))
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, ", ")
}
