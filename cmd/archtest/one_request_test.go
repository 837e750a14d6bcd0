package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	walkRow = regexp.MustCompile("(?m)^\\| (\\d+) \\| `([^`]+)` \\| ([^|]+) \\|")
	quoted  = regexp.MustCompile("`([^`]+)`")
)

// TestOneRequest: the walk of one request in effects.md names functions that are in its files. Its rows are numbered,
// and each is a move to another file.
func TestOneRequest(t *testing.T) {
	page, err := os.ReadFile("../../docs/design/effects.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## One request, file by file\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := walkRow.FindAllStringSubmatch(section, -1)
	if lines := strings.Count(section, "\n| ") - 1; len(rows) != lines || lines < 20 { // but the head
		t.Fatalf("the table has %d rows, of which %d name a file and its functions; expected all, and more than twenty",
			lines, len(rows))
	}
	before := ""
	for i, row := range rows {
		if row[1] != strconv.Itoa(i+1) {
			t.Errorf("row %d has the number %s", i+1, row[1])
		}
		if row[2] == before {
			t.Errorf("row %s stays in the file of the row before, %s", row[1], before)
		}
		before = row[2]
		declared, named := functionsOf(t, row[2]), quoted.FindAllStringSubmatch(row[3], -1)
		if len(named) == 0 {
			t.Errorf("row %s names no function of %s", row[1], row[2])
		}
		for _, f := range named {
			if !declared[f[1]] {
				t.Errorf("row %s: %s has no function %s", row[1], row[2], f[1])
			}
		}
	}
}

// functionsOf is the functions of a file, by name or Type.Method.
func functionsOf(t *testing.T, file string) map[string]bool {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../..", file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := f.Name.Name
		if f.Recv != nil {
			of := f.Recv.List[0].Type
			if star, ok := of.(*ast.StarExpr); ok {
				of = star.X
			}
			if id, ok := of.(*ast.Ident); ok {
				name = id.Name + "." + name
			}
		}
		all[name] = true
	}
	return all
}
