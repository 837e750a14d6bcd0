package inventory

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// captured reads testdata/<name>.tree: the content of a machine's sysfs and proc, one entry per line, "path = quoted
// content" or "path -> link". It is one file because sysfs's names have colons, which a Go module cannot carry.
func captured(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".tree"))
	if err != nil {
		t.Fatal(err)
	}
	tree := fstest.MapFS{}
	fill(t, tree, string(b))
	return tree
}

// fill reads such a text into a tree.
func fill(t testing.TB, tree fstest.MapFS, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if path, to, ok := strings.Cut(line, " -> "); ok {
			tree[path] = &fstest.MapFile{Mode: fs.ModeSymlink | 0o777, Data: []byte(to)}
			continue
		}
		path, quoted, ok := strings.Cut(line, " = ")
		content, err := strconv.Unquote(quoted)
		if !ok || err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		tree[path] = &fstest.MapFile{Data: []byte(content)}
	}
}

// machines are the names of the captured trees.
func machines(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.tree")
	if err != nil || len(files) == 0 {
		t.Fatal("no captured machines", err)
	}
	var list []string
	for _, f := range files {
		list = append(list, strings.TrimSuffix(filepath.Base(f), ".tree"))
	}
	return list
}

// TestTree: the output of Tree for a machine is enough for the collectors, and complete.
func TestTree(t *testing.T) {
	for _, machine := range machines(t) {
		want, err := os.ReadFile(filepath.Join("testdata", machine+".tree"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(Tree(captured(t, machine)))); diff != "" {
			t.Errorf("%s: %s", machine, diff)
		}
	}
}
