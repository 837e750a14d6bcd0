package archtest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestTopLevel(t *testing.T) {
	want := []string{"agent", "cmd", "conductor", "docs", "images", "lab", "proto", "pxe"}
	var got []string
	entries, err := os.ReadDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "bin" && !strings.HasPrefix(e.Name(), ".") { // make build writes to bin
			got = append(got, e.Name())
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("top-level folders are %v, want %v", got, want)
	}
}

// TestMains keeps programs' main files to wiring.
func TestMains(t *testing.T) {
	mains, err := filepath.Glob("../../cmd/*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mains {
		b, err := os.ReadFile(m)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(b), "\n"); n >= 100 {
			t.Errorf("%s has %d lines: wiring belongs in a package", m, n)
		}
	}
}

// TestPackageDocs: every package says its purpose once.
func TestPackageDocs(t *testing.T) {
	documented := map[string][]string{}
	walk(t, production, func(dir string, f file) {
		documented[dir] = append(documented[dir], nil...)
		if f.doc != nil {
			documented[dir] = append(documented[dir], f.path)
		}
	})
	for dir, files := range documented {
		if len(files) != 1 {
			t.Errorf("%s has %d package comments, want 1: %v", dir, len(files), files)
		}
	}
}

// snakeCase also allows the suffixes that Go interprets: _linux, _amd64, _test.
var snakeCase = regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*\.go$`)

func TestFileNames(t *testing.T) {
	every := func(p string) bool { return strings.HasSuffix(p, ".go") }
	walk(t, every, func(_ string, f file) {
		if !snakeCase.MatchString(path.Base(f.path)) {
			t.Errorf("%s: file names are in snake_case", f.path)
		}
	})
}
