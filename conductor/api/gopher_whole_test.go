package api_test

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// gopherModule is all that gophercloud has for bare metal. Beside it lies
// baremetalintrospection: the API of ironic-inspector, a service of its own that
// Ironic has given up for the inspection built into it.
const gopherModule = "github.com/gophercloud/gophercloud/v2/openstack/baremetal"

// gopherSuite is where the library is used against a conductor: here with fake
// hardware, and in cmd where it takes a Redfish service (subscriptions to events).
var gopherSuite = []string{"gopher*_test.go", "../../lab/redfish/client_test.go"}

// TestGophercloudWhole: every function of the library that sends a request, or
// makes a client, is called by the suite.
func TestGophercloudWhole(t *testing.T) {
	called := map[string]bool{}
	for _, pattern := range gopherSuite {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files: %v", pattern, len(files), err)
		}
		for _, file := range files {
			calls(parsed(t, file), called)
		}
	}
	functions := gopherFunctions(t)
	if len(functions) < 50 {
		t.Fatalf("only %d functions found in %s, which has more: %v", len(functions), gopherModule, functions)
	}
	for _, f := range functions {
		if !called[f] {
			t.Errorf("nothing calls %s", f)
		}
	}
}

// gopherFunctions lists the exported functions that take a client or make one,
// as path.Name.
func gopherFunctions(t *testing.T) (all []string) {
	t.Helper()
	p, err := build.Import(gopherModule+"/v1/nodes", ".", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(p.Dir, "..", "..")
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "testing" {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		within, err := filepath.Rel(root, filepath.Dir(file))
		for _, decl := range parsed(t, file).Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() && aboutClients(f.Type) {
				all = append(all, path.Join(gopherModule, filepath.ToSlash(within))+"."+f.Name.Name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func parsed(t *testing.T, file string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// aboutClients reports a function with a *gophercloud.ServiceClient among its
// parameters or results.
func aboutClients(f *ast.FuncType) (is bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		is = is || ok && s.Sel.Name == "ServiceClient"
		return !is
	})
	return is
}

// calls notes the functions of other packages that a file calls, as path.Name.
func calls(f *ast.File, called map[string]bool) {
	imports := map[string]string{}
	for _, s := range f.Imports {
		if p, err := strconv.Unquote(s.Path.Value); err == nil && s.Name == nil {
			imports[path.Base(p)] = p
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if s, ok := call.Fun.(*ast.SelectorExpr); ok {
				if pkg, ok := s.X.(*ast.Ident); ok && imports[pkg.Name] != "" {
					called[imports[pkg.Name]+"."+s.Sel.Name] = true
				}
			}
		}
		return true
	})
}
