package archtest

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the rules into ARCHITECTURE.md and .golangci.yml, and lower words.txt")

// TestGenerated: the documents and the linter say what the tables say.
func TestGenerated(t *testing.T) {
	for _, g := range []struct{ file, begin, end, text string }{
		{"../../ARCHITECTURE.md", "<!-- generated: imports -->\n", "<!-- end of generated: imports -->", table()},
		{"../../.golangci.yml", "      rules: # generated: imports\n", "      # end of generated: imports", depguard()},
	} {
		b, err := os.ReadFile(g.file)
		if err != nil {
			t.Fatal(err)
		}
		head, rest, ok := strings.Cut(string(b), g.begin)
		was, tail, ended := strings.Cut(rest, g.end)
		if !ok || !ended {
			t.Fatalf("%s: no %q and %q", g.file, g.begin, g.end)
		}
		if diff := cmp.Diff(g.text, was); diff != "" && !*update {
			t.Errorf("%s differs from the rules (-rules +file); `go test ./cmd/archtest -update` writes it:\n%s", g.file, diff)
		}
		if *update {
			if err := os.WriteFile(g.file, []byte(head+g.begin+g.text+g.end+tail), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// table is the rules in Markdown.
func table() string {
	var b strings.Builder
	b.WriteString("| package | may import of ours | its tests also | reason |\n|---|---|---|---|\n")
	for _, r := range rules {
		may := names(r.may)
		if may == "" {
			may = "nothing"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", names(r.packages), may, names(r.tests), r.why)
	}
	return b.String()
}

// names lists packages in short: the decisions in one word, and a folder once.
func names(packages []string) string {
	var words []string
	if len(packages) > len(decisions) &&
		!slices.ContainsFunc(decisions, func(d string) bool { return !slices.Contains(packages, d) }) {
		words = append(words, "*decisions*")
		packages = slices.DeleteFunc(slices.Clone(packages), func(p string) bool { return slices.Contains(decisions, p) })
	}
	folder := ""
	for _, p := range packages {
		at := strings.LastIndex(strings.TrimSuffix(p, "/*"), "/") + 1
		word := p
		if at > 0 && p[:at] == folder {
			word = p[at:]
		}
		folder = p[:at]
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// depguard is the rules as golangci-lint reads them, so that an editor shows a wrong import at its line.
func depguard() string {
	var b strings.Builder
	for _, r := range rules {
		if slices.Contains(r.may, "cmd/*") { // all is allowed
			continue
		}
		fmt.Fprintf(&b,
			"        %s:\n          list-mode: lax\n          files: [%s]\n          allow: [%s]\n          deny: [{pkg: %s, "+
				"desc: %q}]\n",
			strings.NewReplacer("/*", "", "/", "-").Replace(r.packages[0]), files(r), imports(r.may),
			strings.TrimSuffix(module, "/"), r.why)
	}
	for _, r := range refusals {
		fmt.Fprintf(&b, "        %s:\n          files: [%s]\n          deny:\n", r.name, globs(r.packages))
		for _, p := range r.refused {
			fmt.Fprintf(&b, "            - {pkg: %s, desc: %q}\n", p, r.why)
		}
	}
	return b.String()
}

// files are the globs of a rule's packages, without those that a longer match has, and without tests.
func files(r rule) string {
	all := globs(r.packages)
	for _, other := range rules {
		for _, p := range other.packages {
			if slices.ContainsFunc(r.packages, func(mine string) bool {
				return mine != p && matches(mine, strings.TrimSuffix(p, "/*"))
			}) {
				all += ", " + strings.ReplaceAll(glob(p), `"**`, `"!**`)
			}
		}
	}
	return all
}

func globs(packages []string) string {
	var all []string
	for _, p := range packages {
		all = append(all, glob(p))
	}
	return strings.Join(all, ", ") + `, "!$test"`
}

func glob(p string) string {
	if base, ok := strings.CutSuffix(p, "/*"); ok {
		return fmt.Sprintf("%q", "**/"+base+"/**")
	}
	return fmt.Sprintf("%q", "**/"+p+"/*.go")
}

func imports(packages []string) string {
	var all []string
	for _, p := range packages {
		base, below := strings.CutSuffix(p, "/*")
		if !below {
			base += "$"
		}
		all = append(all, module+base)
	}
	return strings.Join(all, ", ")
}
