package progress

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shown is a screen that keeps everything.
type shown struct{ moments, kept []string }

func (s *shown) Set(format string, args ...any) {
	s.moments = append(s.moments, fmt.Sprintf(format, args...))
}
func (s *shown) Print(text string) { s.kept = append(s.kept, text) }

// TestRun: packages are counted in the order that go names them, and output is printed whole when a command fails.
func TestRun(t *testing.T) {
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOCACHE", t.TempDir()) // a package without imports needs nothing of Go's own library
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n", "a/a.go": "package a\n",
		"b/b.go": "package b\n\nimport _ \"example.com/m/a\"\n",
		"c/c.go": "package c\n\nvar X = missing\n\nvar Y int = \"text\"\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const looking = "looking for packages that have changed"
	for _, c := range []struct {
		args          string
		moments, kept []string
		brief, ok     bool
	}{
		{"go build ./b", []string{looking, "package 1 of 2: example.com/m/a", "package 2 of 2: example.com/m/b",
			"linking"}, nil, false, true},
		{"go build ./c", []string{looking, "package 1 of 1: example.com/m/c", "linking"},
			[]string{"# example.com/m/c", "c/c.go:3:9: undefined: missing",
				`c/c.go:5:13: cannot use "text" (untyped string constant) as int value in variable declaration`}, false, false},
		{"sh -c", []string{"running sh", "one", "two"}, []string{"one", "two"}, true, false},
		{"sh -c", []string{"running sh"}, []string{"one", "two"}, false, false},
	} {
		args := strings.Fields(c.args)
		if args[0] == "sh" {
			args = append(args, "echo one; echo two >&2; exit 3")
		}
		var got shown
		if err := run(t.Context(), &got, c.brief, args); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.args, err)
		}
		if diff := cmp.Diff([][]string{c.moments, c.kept}, [][]string{got.moments, got.kept}); diff != "" {
			t.Errorf("%s: %s", c.args, diff)
		}
	}
}
