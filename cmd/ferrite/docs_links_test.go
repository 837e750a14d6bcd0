package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/lab/suites"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestDocsLinks: each relative link of a page leads to a file, and to a heading where it names one.
func TestDocsLinks(t *testing.T) {
	all := pages(t)
	for path, page := range all {
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			file, heading, _ := strings.Cut(m[1], "#")
			to := path
			if file != "" {
				to = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(filepath.Join("../..", to)); err != nil {
				t.Errorf("%s: link to %s: %v", path, m[1], err)
				continue
			}
			if heading != "" && !headings(all[to])[heading] {
				t.Errorf("%s: link to %s: %s has no such heading", path, m[1], to)
			}
		}
	}
}

var notAnchor = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)

// headings are the anchors that GitHub gives the headings of a page.
func headings(page string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.SplitSeq(page, "\n") {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			out[strings.ReplaceAll(notAnchor.ReplaceAllString(strings.ToLower(title), ""), " ", "-")] = true
		}
	}
	return out
}

var source = regexp.MustCompile("`((?:proto|conductor|pxe|agent|images|lab|cmd)/[A-Za-z0-9_./-]+)`")

// TestDocsPaths: each file or folder of the sources that a page names is there. Decisions stay as they were written.
func TestDocsPaths(t *testing.T) {
	for path, page := range pages(t) {
		if strings.HasPrefix(path, "docs/decisions/") || path == "CHANGELOG.md" {
			continue
		}
		for _, m := range source.FindAllStringSubmatch(page, -1) {
			name, _, _ := strings.Cut(m[1], ".Write") // a function of a package
			if _, err := os.Stat(filepath.Join("../..", name)); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

var direct = regexp.MustCompile(`(?m)^(?:require )?\t([^\s]+) v\S+$`)

// TestDocsDependencies: each module that go.mod requires directly has a row on the page of dependencies.
func TestDocsDependencies(t *testing.T) {
	b, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	const page = "docs/design/dependencies.md"
	text := pages(t)[page]
	found := direct.FindAllStringSubmatch(string(b), -1)
	if len(found) < 20 {
		t.Fatalf("go.mod has %d direct modules; expected more than twenty", len(found))
	}
	for _, m := range found {
		name := strings.TrimSuffix(m[1], "/src")
		if v := filepath.Base(name); len(v) == 2 && v[0] == 'v' {
			name = filepath.Dir(name)
		}
		if !strings.Contains(text, filepath.Base(name)) {
			t.Errorf("%s has no row for %s", page, m[1])
		}
	}
}

var target = regexp.MustCompile("(?m)(?:^|`|&& )make ([a-z][a-z0-9-]*)")

// TestDocsMake: each target of make that a page names is in the Makefile, or a suite.
func TestDocsMake(t *testing.T) {
	b, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for path, page := range pages(t) {
		if strings.HasPrefix(path, "docs/decisions/") {
			continue
		}
		for _, m := range target.FindAllStringSubmatch(page, -1) {
			if _, suite := suites.Find(m[1]); !suite && !bytes.Contains(b, []byte("\n"+m[1]+":")) {
				t.Errorf("%s: the Makefile has no target %s", path, m[1])
			}
		}
	}
}
