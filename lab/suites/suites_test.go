package suites

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of suites into the documents")

// page has the table for readers, between these lines.
const (
	page   = "docs/dev/suites.md"
	opens  = "<!-- generated: suites -->\n"
	closes = "<!-- end of generated: suites -->\n"
)

// TestPage: the documents list the suites as the table does.
func TestPage(t *testing.T) {
	text := read(t, page)
	head, rest, found := strings.Cut(text, opens)
	_, tail, closed := strings.Cut(rest, closes)
	if !found || !closed {
		t.Fatalf("%s: expected the lines %q and %q", page, opens, closes)
	}
	var b strings.Builder
	b.WriteString("| suite | needs | time | runs | after changes of |\n|---|---|---|---|---|\n")
	for _, s := range All {
		needs := "root once, npm"
		if s.Root {
			needs = "root"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", s.Name, needs, s.Takes, s.About, s.For)
	}
	want := head + opens + b.String() + closes + tail
	if *update {
		if err := os.WriteFile(filepath.Join(root, page), []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if text != want {
		t.Errorf("%s lists other suites than suites.go: go test ./lab/suites -update", page)
	}
}

// TestMakefile: the Makefile reads every name, and no suite has the name of another target.
func TestMakefile(t *testing.T) {
	makefile := read(t, "Makefile")
	program := regexp.MustCompile(`shell sed -n '(.*)' lab/suites/suites.go`).FindStringSubmatch(makefile)
	if program == nil {
		t.Fatal("the Makefile does not read suites.go")
	}
	names, err := exec.Command("sed", "-n", strings.ReplaceAll(program[1], "$$", "$"), "suites.go").Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(string(names))
	var want []string
	for _, s := range All {
		want = append(want, s.Name)
		if s.Name != "e2e" && strings.Contains(makefile, "\n"+s.Name+":") {
			t.Errorf("%s is a suite, and a target of its own in the Makefile", s.Name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the Makefile reads the suites %v, want %v", got, want)
	}
}

// TestRows: each row is a command of bash. Its packages have a test of the name it asks for.
func TestRows(t *testing.T) {
	for _, s := range All {
		if out, err := exec.Command("bash", "-n", "-c", s.Run).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", s.Name, err, out)
		}
		for line := range strings.Lines(s.Run) {
			line = strings.ReplaceAll(line, "$(grep -rl '^func TestE2E' --include=*_test.go . | xargs -n1 dirname | sort -u)",
				"./lab/e2e/crash")
			asked := regexp.MustCompile(`-run '(.*?)'`).FindStringSubmatch(line)
			if asked == nil {
				continue
			}
			folder := regexp.MustCompile(` (\./[a-z0-9/_-]+)`).FindStringSubmatch(line)
			if folder == nil || !declares(t, folder[1], regexp.MustCompile(asked[1])) {
				t.Errorf("%s: no test in %v has a name like %s", s.Name, folder, asked[1])
			}
		}
	}
}

// TestTags: the linter reads the tests of every suite.
func TestTags(t *testing.T) {
	list := regexp.MustCompile(`build-tags: \[([^\]]*)\]`).FindStringSubmatch(read(t, ".golangci.yml"))
	if list == nil {
		t.Fatal(".golangci.yml has no build-tags")
	}
	linted := strings.FieldsFunc(list[1], func(r rune) bool { return strings.ContainsRune(", \n", r) })
	var tags []string
	for _, s := range All {
		for _, m := range regexp.MustCompile(`-tags (?:'(.*?)'|(\S+))`).FindAllStringSubmatch(s.Run, -1) {
			tags = append(tags, strings.Fields(m[1]+m[2])...)
		}
	}
	slices.Sort(tags)
	if tags = slices.Compact(tags); !slices.Equal(tags, linted) {
		t.Errorf(".golangci.yml has the build tags %v, the suites have %v", linted, tags)
	}
}

// declares reports whether a folder has a test of that name.
func declares(t *testing.T, folder string, name *regexp.Regexp) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(b), -1) {
			if name.MatchString(m[1]) {
				return true
			}
		}
	}
	return false
}

// TestPackages: a suite with machines has the packages of base, a suite of the browser its own alone.
func TestPackages(t *testing.T) {
	for name, want := range map[string]struct{ has, lacks string }{
		"takeover-test": {"qemu-utils kea-admin", "chromium"},
		"ui-test":       {"chromium", "qemu-utils"},
		"":              {"qemu-utils", "chromium kea-admin"},
	} {
		got, err := packagesOf(name)
		for _, p := range strings.Fields(want.has) {
			if !slices.Contains(got, p) {
				t.Errorf("%q has no package %s: %v, %v", name, p, got, err)
			}
		}
		for _, p := range strings.Fields(want.lacks) {
			if slices.Contains(got, p) {
				t.Errorf("%q has package %s", name, p)
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
