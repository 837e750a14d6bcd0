package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// file is a Go file of the project.
type file struct {
	path    string // from the project's root
	doc     *ast.CommentGroup
	imports []string
}

func production(p string) bool {
	return strings.HasSuffix(p, ".go") && !strings.HasSuffix(p, "_test.go")
}
func tests(p string) bool { return strings.HasSuffix(p, "_test.go") }

// sources returns which packages of ours each package imports, by folder. It reads the files itself: go test caches
// a run that asks go list, and would then miss a new import.
func sources(t *testing.T, wanted func(path string) bool) map[string]map[string]bool {
	t.Helper()
	imports := map[string]map[string]bool{}
	walk(t, wanted, func(dir string, f file) {
		if imports[dir] == nil {
			imports[dir] = map[string]bool{}
		}
		for _, p := range f.imports {
			if ours, ok := strings.CutPrefix(p, module); ok {
				imports[dir][ours] = true
			}
		}
	})
	return imports
}

// walk shows visit all Go files of the project that are wanted.
func walk(t *testing.T, wanted func(path string) bool, visit func(dir string, f file)) {
	t.Helper()
	err := filepath.WalkDir("../..", func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && (d.Name() == "testdata" || (strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2)) {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() || !wanted(p) {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		f := file{path: strings.TrimPrefix(filepath.ToSlash(p), "../../"), doc: parsed.Doc}
		for _, i := range parsed.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, name)
		}
		visit(path.Dir(f.path), f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
