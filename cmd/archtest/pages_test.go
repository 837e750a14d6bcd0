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
		declared, named := declaredIn(t, row[2]), quoted.FindAllStringSubmatch(row[3], -1)
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

var nameInFile = regexp.MustCompile("`([A-Za-z.]+)`\\s+\\(`([a-z]+/[^`]+\\.go)`")

// TestNamesInFiles: a name with its file in brackets, on a page for developers, is declared in that file.
func TestNamesInFiles(t *testing.T) {
	pages, err := filepath.Glob("../../docs/dev/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range nameInFile.FindAllStringSubmatch(string(b), -1) {
			found++
			if !declaredIn(t, m[2])[m[1]] {
				t.Errorf("%s: %s does not declare %s", page, m[2], m[1])
			}
		}
	}
	if found < 20 {
		t.Errorf("the pages have %d names with their files; expected more than twenty", found)
	}
}

// declaredIn is the names that a file declares: functions, Type.Method, types, variables and constants.
func declaredIn(t *testing.T, file string) map[string]bool {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../..", file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			all[receiver(d)+d.Name.Name] = true
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					all[s.Name.Name] = true
				case *ast.ValueSpec:
					for _, n := range s.Names {
						all[n.Name] = true
					}
				}
			}
		}
	}
	return all
}

// receiver is "Type." of a method, "" of a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if id, ok := of.(*ast.Ident); ok {
		return id.Name + "."
	}
	return ""
}
