package gophercloudtest

import (
	"embed"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"testing"
)

// library is all that gophercloud has for bare metal. Beside it lies baremetalintrospection: the API of
// ironic-inspector, a service of its own that Ironic has given up for the inspection built into it.
const library = "github.com/gophercloud/gophercloud/v2/openstack/baremetal"

//go:embed *_test.go
var suite embed.FS

// TestWhole: the suite calls every function of the library that sends a request, or makes a client.
func TestWhole(t *testing.T) {
	files, err := suite.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	called := map[string]bool{}
	for _, file := range files {
		text, err := suite.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		calls(parsed(t, file.Name(), text), called)
	}
	functions := functionsOfLibrary(t)
	if len(functions) < 50 {
		t.Fatalf("only %d functions found in %s, which has more: %v", len(functions), library, functions)
	}
	for _, f := range functions {
		if !called[f] {
			t.Errorf("nothing calls %s", f)
		}
	}
}

// functionsOfLibrary lists the exported functions that take a client or make one, as path.Name. The go command finds
// the files: binaries made with -trimpath do not know where the modules are.
func functionsOfLibrary(t *testing.T) (all []string) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-find", "-f",
		`{{range .GoFiles}}{{$.ImportPath}} {{$.Dir}}/{{.}}{{"\n"}}{{end}}`, library+"/...")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%v: %v", list, err)
	}
	for line := range strings.Lines(string(out)) {
		pkg, file, found := strings.Cut(strings.TrimSpace(line), " ")
		if !found || path.Base(pkg) == "testing" {
			continue
		}
		for _, decl := range parsed(t, file, nil).Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() && aboutClients(f.Type) {
				all = append(all, pkg+"."+f.Name.Name)
			}
		}
	}
	return all
}

// parsed parses a file, from text where it is not nil.
func parsed(t *testing.T, file string, text []byte) *ast.File {
	t.Helper()
	var source any
	if text != nil {
		source = text
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution)
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
