package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ownClients are the packages that make HTTP clients without conductor/outbound, and why they may: all other targets
// are named by nodes, rules or machines, and outbound decides whether they are called.
var ownClients = map[string]string{
	"conductor/outbound":                            "the constructor",
	"conductor/bmc/redfish":                         "dials by outbound, with a TLS configuration for each BMC",
	"conductor/agents":                              "dials by outbound, with the pin of each agent",
	"conductor/cluster":                             "calls members, whose key is the cluster's",
	"conductor/extras/operate/doctor":               "calls the API of this host",
	"conductor/extras/signals/traces":               "--traces-endpoint, which the operator of the host sets",
	"conductor/extras/openstack/keystone":           "OpenStack, as the operator of the host has set it",
	"conductor/extras/openstack/glance":             "OpenStack, as the operator of the host has set it",
	"conductor/extras/openstack/neutron":            "OpenStack, as the operator of the host has set it",
	"conductor/imagestore/imagesource":              "wraps the client of outbound that it is given",
	"cmd/ferrite/serve":                             "OpenStack's authorities; see neutron.go and glance.go",
	"cmd/ferrite/cli/importing/ironic":              "a client of its user's",
	"cmd/ferrite/cli/internal/client":               "a client of its user's",
	"conductor/imagestore/imagelibrary/librarytest": "tests alone",
	"cmd/ferrite/serve/servetest":                   "tests alone",
}

// TestHTTPClients: the conductor makes HTTP clients in the packages above alone.
func TestHTTPClients(t *testing.T) {
	found := map[string]bool{}
	for _, root := range []string{"conductor", "pxe", "cmd/ferrite"} {
		err := filepath.WalkDir(filepath.Join("../..", root), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return err
			}
			dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../../")
			for _, at := range httpClients(file) {
				if found[dir] = true; ownClients[dir] == "" {
					t.Errorf("%s makes an HTTP client of its own: take one of conductor/outbound, or give the reason in this test",
						files.Position(at))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for dir := range ownClients {
		if !found[dir] {
			t.Errorf("%s makes no HTTP client: remove its row", dir)
		}
	}
}

// httpClients are the places of a file that make an HTTP client, or take the process's own.
func httpClients(file *ast.File) (at []token.Pos) {
	made := func(e ast.Expr, names ...string) bool {
		s, ok := e.(*ast.SelectorExpr)
		if !ok || !slices.Contains(names, s.Sel.Name) {
			return false
		}
		of, ok := s.X.(*ast.Ident)
		return ok && of.Name == "http"
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if made(n.Type, "Client", "Transport") {
				at = append(at, n.Pos())
			}
		case *ast.ValueSpec:
			if n.Type != nil && made(n.Type, "Client", "Transport") {
				at = append(at, n.Pos())
			}
		case *ast.SelectorExpr:
			if made(n, "DefaultClient", "DefaultTransport", "Get", "Post", "PostForm", "Head") {
				at = append(at, n.Pos())
			}
		}
		return true
	})
	return at
}
