package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// logPage documents the keys of the log.
const logPage = "../../docs/operate/logs.md"

// logCalls are the functions that log, with the number of arguments before the first key.
var logCalls = map[string]int{"Debug": 1, "Info": 1, "Warn": 1, "Error": 1, "With": 0, "warnOf": 3, "complain": 1}

// TestLogKeys compares the keys that the conductor logs with the page that documents them.
func TestLogKeys(t *testing.T) {
	used := map[string][]string{} // file and line, by key
	for _, root := range []string{"conductor", "pxe", "cmd/ferrite"} {
		err := filepath.WalkDir(filepath.Join("../..", root), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			return logKeys(path, used)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(logPage)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z][a-z_-]*)` \\|").FindAllStringSubmatch(string(page), -1) {
		if known[row[1]] {
			t.Errorf("%s: the key %s has two rows", logPage, row[1])
		}
		known[row[1]] = true
		if used[row[1]] == nil {
			t.Errorf("%s: nothing logs the key %s: remove its row", logPage, row[1])
		}
	}
	if len(used) < 50 {
		t.Errorf("only %d keys were found: does this test know how the program logs?", len(used))
	}
	for key, at := range used {
		if !known[key] {
			t.Errorf("%s has no row for the key %s, logged at %v", logPage, key, at)
		}
	}
}

// logKeys adds the keys that a file logs.
func logKeys(path string, used map[string][]string) error {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, path, nil, 0)
	if err != nil {
		return err
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		body, ok := n.(*ast.FuncDecl)
		if !ok || body.Body == nil {
			return true
		}
		spread := false
		ast.Inspect(body.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && logs(call) {
				spread = spread || call.Ellipsis.IsValid()
				addKeys(set, used, call.Args[min(logCalls[calledName(call)], len(call.Args)):])
			}
			return true
		})
		if spread { // the keys are in a slice that the function makes
			ast.Inspect(body.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CompositeLit:
					if list, ok := n.Type.(*ast.ArrayType); ok && isAny(list.Elt) {
						addKeys(set, used, n.Elts)
					}
				case *ast.CallExpr:
					if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "append" {
						addKeys(set, used, n.Args[1:])
					}
				}
				return true
			})
		}
		return true
	})
	return nil
}

func isAny(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "any"
}

// calledName is the name of the method that is called; "" for none.
func calledName(call *ast.CallExpr) string {
	if s, ok := call.Fun.(*ast.SelectorExpr); ok {
		return s.Sel.Name
	}
	return ""
}

// logs reports a call of a function that logs.
func logs(call *ast.CallExpr) bool {
	skip, ok := logCalls[calledName(call)]
	if !ok || len(call.Args) <= skip {
		return false
	}
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, ok := s.X.(*ast.Ident)
	return !ok || of.Name != "http"
}

// addKeys adds every other of some arguments, as long as they are literals.
func addKeys(set *token.FileSet, used map[string][]string, args []ast.Expr) {
	for i := 0; i < len(args); i += 2 {
		literal, ok := args[i].(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return
		}
		key, err := strconv.Unquote(literal.Value)
		if err != nil {
			return
		}
		at := set.Position(literal.Pos())
		if place := filepath.ToSlash(at.Filename) + ":" + strconv.Itoa(at.Line); !slices.Contains(used[key], place) {
			used[key] = append(used[key], place)
		}
	}
}
