// Package archtest keeps the import table of ARCHITECTURE.md true. It has no
// code of its own: the rules are a table, and the test reads the sources.
package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/ferrite-metal/ferrite/"

// rule says which of our packages a package may import. "x" is x alone,
// "x/*" is x and all below it.
type rule struct {
	who  string
	may  []string
	why  string
	deep bool // what it may not import it may not reach either
}

var rules = []rule{
	{"proto/*", nil, "contracts, usable alone", true},
	{"proto/rootdevice", []string{"proto/agentapi"}, "one choice for agent and conductor: disks and hints in, a disk out", true},
	{"conductor/fsm", nil, "a table of states; knows none of them", true},
	{"conductor/node", []string{"conductor/fsm"}, "a pure core, usable alone", true},
	{"images/disk/*", []string{"images/disk/*"}, "a pure core, usable alone", true},
	{"images/fat", nil, "a pure core, usable alone", true},
	{"images/configdrive", []string{"images/fat"}, "a pure core: files in, an image out", true},
	{"agent/sys", nil, "the edge to the kernel", true},
	{"conductor/rules", []string{"conductor/fsm", "conductor/node", "proto/*"}, "operators' rules: plain data in, plain data out", true},
	{"conductor/plan", []string{"conductor/fsm", "conductor/node", "conductor/rules", "proto/*"}, "decisions: plain data in, plain data out", true},
	{"conductor/host/firmware", []string{"conductor/fsm", "conductor/node", "proto/*"}, "documents about firmware: plain data in, documents out", true},
	{"conductor/host/translate", []string{"conductor/documents/yamljson", "conductor/fsm", "conductor/node", "proto/*"}, "a document becomes a node: plain data in, plain data out", true},
	{"conductor/host", []string{"conductor/documents/yamljson", "conductor/host/firmware", "conductor/host/translate", "conductor/fsm", "conductor/node", "conductor/plan", "conductor/rules", "proto/*"}, "decisions: plain data in, plain data out", true},
	{"conductor/engine", []string{"conductor/engine/*", "conductor/fsm", "conductor/node", "conductor/plan", "conductor/rules", "proto/*"}, "puts its parts together", true},
	{"conductor/engine/core", []string{"conductor/fsm", "conductor/node", "conductor/plan", "conductor/rules", "proto/*"}, "the only writer; knows interfaces, not drivers", true},
	{"conductor/engine/hardware", []string{"conductor/engine/core", "conductor/fsm", "conductor/node", "conductor/plan", "conductor/rules", "proto/*"}, "asks BMCs for operators; rests on the core, and on no other part", true},
	{"conductor/engine/jobs", []string{"conductor/engine/core", "conductor/fsm", "conductor/node", "conductor/plan", "conductor/rules", "proto/*"}, "carries out effects; rests on the core, and on no other part", true},
	{"conductor/engine/powersync", []string{"conductor/engine/core", "conductor/fsm", "conductor/node", "conductor/plan", "conductor/rules", "proto/*"}, "reads power states; rests on the core, and on no other part", true},
	{"conductor/engine/ramdisk", []string{"conductor/engine/core", "conductor/fsm", "conductor/node", "conductor/plan", "conductor/rules", "proto/*"}, "answers agents; rests on the core, and on no other part", true},
	{"conductor/engine/records", []string{"conductor/engine/core", "conductor/fsm", "conductor/node", "conductor/plan", "conductor/rules", "proto/*"}, "keeps records beside nodes; rests on the core, and on no other part", true},
	{"conductor/host/reconciler", []string{"conductor/host", "conductor/host/firmware", "conductor/host/translate", "conductor/documents/objects", "conductor/documents/yamljson", "conductor/fsm", "conductor/node", "conductor/plan", "conductor/rules", "proto/*"}, "does what host decides, by the engine's verbs", true},
	{"conductor/documents/events", []string{"proto/*"}, "keeps events; decides none", true},
	{"conductor/documents/yamljson", []string{}, "knows no documents", true},
	{"conductor/documents/objects", []string{"proto/*"}, "keeps documents; knows nothing of what they are for", true},
	{"conductor/documents/kube", []string{"conductor/documents/objects", "conductor/documents/yamljson", "conductor/auth", "conductor/ratelimit", "conductor/reload", "proto/*"}, "a face of the documents; knows no nodes", true},
	{"conductor/keys", nil, "keys in files; usable alone", true},
	{"conductor/store/*", []string{"conductor/store/*", "conductor/fsm", "conductor/node", "conductor/documents/objects", "proto/*"}, "drivers never import each other", true},
	{"conductor/bmc/*", []string{"conductor/bmc/*", "conductor/cacert", "conductor/fsm", "conductor/node", "proto/*"}, "drivers never import each other", true},
	{"conductor/ratelimit", nil, "counts; usable alone", true},
	{"conductor/reload", nil, "files; usable alone", true},
	{"conductor/certificate/*", []string{"conductor/certificate/*", "conductor/reload"}, "TLS; knows no requests", true},
	{"conductor/auth", []string{"conductor/ratelimit", "conductor/reload", "proto/*"}, "who, and what he may; knows projects, not nodes", true},
	{"conductor/agents", []string{"conductor/fsm", "conductor/node", "conductor/plan", "conductor/rules", "conductor/engine/*", "conductor/ratelimit", "conductor/cacert", "proto/*"}, "a face of the engine", true},
	{"conductor/api/rest", []string{"conductor/auth", "conductor/ratelimit", "conductor/reload", "proto/*"}, "a REST API over any record; knows no node", true},
	{"conductor/api/*", []string{"conductor/api/*", "conductor/fsm", "conductor/node", "conductor/plan", "conductor/rules", "conductor/engine/*", "conductor/auth", "conductor/ratelimit", "conductor/reload", "proto/*"}, "a face of the engine", true},
	{"conductor/bootlog", []string{"proto/*"}, "files of text; knows names, not nodes", true},
	{"conductor/cacert", nil, "files; usable alone", true},
	{"conductor/outbound", nil, "addresses; usable alone", true},
	{"conductor/localfile", nil, "files; usable alone", true},
	{"conductor/imagesource", []string{"conductor/fsm", "conductor/node", "conductor/localfile", "proto/*"}, "knows where images are, not what for", true},
	{"conductor/bootpolicy", []string{"conductor/fsm", "conductor/node", "conductor/plan", "conductor/rules", "conductor/engine/*", "conductor/localfile", "proto/*", "pxe"}, "the bridge", true},
	{"pxe/*", []string{"pxe/*", "proto/connlimit"}, "boot knows nothing of nodes", true},
	{"agent/*", []string{"agent/*", "proto/*", "images/disk/*", "images/configdrive", "images/fat"}, "a small ramdisk", true},
	{"images/ramdisk/*", []string{"images/*"}, "the builder packs binaries by path", true},
	{"lab/network", nil, "a network namespace; knows no machines", true},
	{"lab/qemu/*", []string{"lab/qemu/*"}, "a machine with a power button; knows no conductor", true},
	{"lab/redfish", []string{"lab/qemu/*"}, "a BMC before a machine; knows no conductor", true},
	{"lab/osimage/*", []string{"lab/osimage/*", "images/*", "agent/*", "proto/*"}, "operating systems for machines to boot", true},
	{"lab/*", []string{"lab/*", "agent/*", "conductor/*", "images/*", "proto/*", "pxe/*"}, "the machine room and its suites", false},
	{"cmd/ferrite/cli/*", []string{"cmd/ferrite/cli/*", "proto/*", "cmd/ferrite/secret"}, "the CLI is a client like any other", false},
}

// pure packages do no I/O and read no clock.
var pure = []string{"conductor/fsm", "conductor/node", "conductor/rules", "conductor/plan", "conductor/host", "conductor/host/firmware", "conductor/host/translate", "proto/rootdevice"}

var impure = []string{"os", "net/http", "io/ioutil", "os/exec", "database/sql", "log/slog", "sync", "crypto/rand", "math/rand", "math/rand/v2"}

func TestImports(t *testing.T) {
	imports := sources(t)
	applied := map[*rule]bool{}
	for dir, deps := range imports {
		r := ruleFor(dir)
		applied[r] = true
		if r == nil {
			if !strings.HasPrefix(dir, "cmd/") && dir != "conductor" && dir != "." {
				t.Errorf("%s has no row in the import table", dir)
			}
			continue
		}
		for dep := range reach(imports, deps, r.deep) {
			if ours, ok := strings.CutPrefix(dep, module); ok && !allowed(ours, r, dir) {
				t.Errorf("%s imports %s, but may import only %v: %s", dir, ours, r.may, r.why)
			}
		}
	}
	for i := range rules {
		if !applied[&rules[i]] {
			t.Errorf("the row of %s is about no package", rules[i].who)
		}
	}
}

func TestNobodyImportsCmd(t *testing.T) {
	for dir, deps := range sources(t) {
		for dep := range deps {
			if strings.HasPrefix(dep, module+"cmd/") && !strings.HasPrefix(dir, "cmd/") {
				t.Errorf("%s imports %s: wiring is for cmd alone", dir, dep)
			}
		}
	}
}

func TestPureCore(t *testing.T) {
	for dir, deps := range sources(t) {
		for dep := range deps {
			if slices.Contains(pure, dir) && slices.Contains(impure, dep) {
				t.Errorf("%s imports %s, but it is pure", dir, dep)
			}
		}
	}
}

// TestTopLevel keeps the eight folders, and main files short.
func TestTopLevel(t *testing.T) {
	want := []string{"agent", "cmd", "conductor", "docs", "images", "lab", "proto", "pxe"}
	var got []string
	entries, err := os.ReadDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "bin" && !strings.HasPrefix(e.Name(), ".") { // bin is what make build leaves
			got = append(got, e.Name())
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("top-level folders are %v, want %v", got, want)
	}
	mains, err := filepath.Glob("../../cmd/*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mains {
		b, err := os.ReadFile(m)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(b), "\n"); n >= 100 {
			t.Errorf("%s has %d lines: wiring belongs in a package", m, n)
		}
	}
}

// TestPackageDocs: every package says what it is for.
func TestPackageDocs(t *testing.T) {
	documented := map[string]bool{}
	walk(t, func(dir string, f *ast.File) {
		documented[dir] = documented[dir] || f.Doc != nil
	}, parser.PackageClauseOnly|parser.ParseComments)
	for dir, ok := range documented {
		if !ok {
			t.Errorf("%s has no package comment", dir)
		}
	}
}

// sources reads the imports of every package itself: go test caches a run
// that shells out to go list, and would then miss a new import.
func sources(t *testing.T) map[string]map[string]bool {
	imports := map[string]map[string]bool{}
	walk(t, func(dir string, f *ast.File) {
		if imports[dir] == nil {
			imports[dir] = map[string]bool{}
		}
		for _, s := range f.Imports {
			p, err := strconv.Unquote(s.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			imports[dir][p] = true
		}
	}, parser.ImportsOnly)
	return imports
}

func walk(t *testing.T, visit func(dir string, f *ast.File), mode parser.Mode) {
	t.Helper()
	err := filepath.WalkDir("../..", func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && (d.Name() == "testdata" || (strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2)) {
			return filepath.SkipDir
		}
		if err != nil || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, mode)
		if err != nil {
			return err
		}
		visit(path.Dir(strings.TrimPrefix(filepath.ToSlash(p), "../../")), f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ruleFor picks the row with the longest match.
func ruleFor(dir string) *rule {
	var best *rule
	for i := range rules {
		if matches(rules[i].who, dir) && (best == nil || len(rules[i].who) > len(best.who)) {
			best = &rules[i]
		}
	}
	return best
}

func allowed(dep string, r *rule, self string) bool {
	return dep == self || slices.ContainsFunc(r.may, func(m string) bool { return matches(m, dep) })
}

func matches(pattern, dir string) bool {
	if base, ok := strings.CutSuffix(pattern, "/*"); ok {
		return dir == base || strings.HasPrefix(dir, base+"/")
	}
	return dir == pattern
}

func reach(imports map[string]map[string]bool, deps map[string]bool, deep bool) map[string]bool {
	seen := map[string]bool{}
	var add func(deps map[string]bool)
	add = func(deps map[string]bool) {
		for d := range deps {
			if !seen[d] {
				seen[d] = true
				if deep {
					add(imports[strings.TrimPrefix(d, module)])
				}
			}
		}
	}
	add(deps)
	return seen
}
