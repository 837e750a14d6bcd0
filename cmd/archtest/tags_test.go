package archtest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unlinted are build tags of files that need no linter: race is Go's own, tools has no code, and bundled embeds files
// that only a build of packages makes.
var unlinted = list("race, tools, bundled")

var (
	constraint = regexp.MustCompile(`(?m)^//go:build (.+)$`)
	word       = regexp.MustCompile(`\w+`)
	tagLists   = regexp.MustCompile(`(?s)build-tags: \[[^]]*\]|\nLEAN +:= [^\n]*`)
)

// TestLintedTags: the linter sees the files of every build tag, by .golangci.yml or by LEAN of the Makefile.
func TestLintedTags(t *testing.T) {
	var listed []string
	for _, name := range []string{"../../.golangci.yml", "../../Makefile"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, word.FindAllString(tagLists.FindString(string(b)), -1)...)
	}
	every := func(p string) bool { return strings.HasSuffix(p, ".go") }
	walk(t, every, func(_ string, f file) {
		b, err := os.ReadFile("../../" + f.path)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range constraint.FindAllStringSubmatch(string(b), -1) {
			for _, tag := range word.FindAllString(c[1], -1) {
				if !slices.Contains(listed, tag) && !slices.Contains(unlinted, tag) {
					t.Errorf("%s has the build tag %s, which the linter does not see: add it to .golangci.yml", f.path, tag)
				}
			}
		}
	})
}
