package inventory

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// captured reads testdata/<name>.tree: what a machine's sysfs and proc held,
// one entry per line, "path = quoted content" or "path -> link". It is one
// file because sysfs's names have colons, which a Go module cannot carry.
func captured(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".tree"))
	if err != nil {
		t.Fatal(err)
	}
	tree := fstest.MapFS{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if path, to, ok := strings.Cut(line, " -> "); ok {
			tree[path] = &fstest.MapFile{Mode: fs.ModeSymlink | 0o777, Data: []byte(to)}
			continue
		}
		path, quoted, ok := strings.Cut(line, " = ")
		content, err := strconv.Unquote(quoted)
		if !ok || err != nil {
			t.Fatalf("%s: line %q: %v", name, line, err)
		}
		tree[path] = &fstest.MapFile{Data: []byte(content)}
	}
	return tree
}
