package suites

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// others are programs of tests outside of all Debian packages: Go itself, ours, and names that must be missing.
var others = []string{"go", "/ferrite", "/nonexistent", "/no/such/program", "/proc/self/exe",
	"../../bin/release/ferrite"}

// TestPrograms: each program that a test or the lab runs is in a package of the table, and that one is in a suite.
func TestPrograms(t *testing.T) {
	in := table(programs)
	var suited []string
	for name := range sets {
		suited = append(suited, strings.Fields(sets[name])...)
	}
	for _, s := range All {
		suited = append(suited, strings.Fields(s.Packages)...)
	}
	known := map[string]bool{}
	for p, has := range in {
		for _, program := range has {
			known[filepath.Base(program)] = true
		}
		if len(has) == 0 {
			t.Errorf("package %s has no program in programs.txt", p)
		}
	}
	found := 0
	for program, where := range executed(t) {
		found++
		if !known[filepath.Base(program)] && !slices.Contains(others, program) {
			t.Errorf("%s is run by %s, and in no package of programs.txt", program, where)
		}
	}
	if found < 30 {
		t.Errorf("%d programs are found in the sources: does the search still work?", found)
	}
	for _, p := range []string{"mariadb-client-core", "kea-admin", "erlang-base", "isc-dhcp-server"} {
		if !slices.Contains(suited, p) || in[p] == nil {
			t.Errorf("%s is in no suite, or has no program", p)
		}
	}
	for p := range in {
		if !slices.Contains(suited, p) {
			t.Errorf("%s has programs that tests run, and is in no suite", p)
		}
	}
}

// executed are the programs that tests and the lab run by a name that stands in the source, and where.
func executed(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		inLab := strings.HasPrefix(path, filepath.Join(root, "lab"))
		if d.IsDir() || !strings.HasSuffix(path, ".go") || !inLab && !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		return programsOf(path, all)
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// runners are the functions that run a program, with the place of its name among their arguments.
var runners = map[string]int{"exec.Command": 0, "exec.CommandContext": 1, "exec.LookPath": 0, "Command": 1}

// serviceRunners are the runners of lab/openstack.
var serviceRunners = map[string]int{"run": 1, "start": 1, "command": 1, "startUntil": 2, "newService": 3}

func programsOf(path string, all map[string]string) error {
	source, err := os.ReadFile(path)
	ofService := strings.Contains(path, "lab/openstack/")
	runs := ofService || bytes.Contains(source, []byte("Command")) || bytes.Contains(source, []byte("LookPath"))
	if err != nil || !runs {
		return err
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, source, 0)
	if err != nil {
		return err
	}
	texts := map[string]string{} // constants of the file
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if i < len(n.Values) {
					texts[name.Name] = text(n.Values[i], nil)
				}
			}
		case *ast.CallExpr:
			name := called(n)
			at, is := runners[name]
			if _, method, _ := strings.Cut(name, "."); !is {
				at, is = runners[method]
			}
			if !is && ofService {
				_, method, _ := strings.Cut("."+name, ".")
				at, is = serviceRunners[method[strings.LastIndex(method, ".")+1:]]
			}
			if is && at < len(n.Args) {
				if program := text(n.Args[at], texts); program != "" {
					all[program] = path
				}
			}
		}
		return true
	})
	return nil
}

// called is the name of a called function, with its package or receiver if that is a plain name.
func called(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if of, is := f.X.(*ast.Ident); is {
			return of.Name + "." + f.Sel.Name
		}
		return "." + f.Sel.Name
	}
	return ""
}

func text(e ast.Expr, constants map[string]string) string {
	switch v := e.(type) {
	case *ast.BasicLit:
		s, _ := strconv.Unquote(v.Value)
		return s
	case *ast.Ident:
		return constants[v.Name]
	}
	return ""
}

// TestMissing: a program that is missing is named with its package and the target that installs it.
func TestMissing(t *testing.T) {
	err := check("interop-nova", func(program string) bool { return program != "my_print_defaults" })
	want := "my_print_defaults is missing: install Debian's mariadb-client-core, as `make interop-nova` does"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := check("interop-nova", func(string) bool { return true }); err != nil {
		t.Error(err)
	}
	if check("of no name", func(string) bool { return true }) == nil {
		t.Error("a suite without a row is taken")
	}
}
