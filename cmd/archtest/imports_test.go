package archtest

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestImports: a room imports the rooms that its row names, all of which stand above it.
func TestImports(t *testing.T) {
	entered, used := map[string]bool{}, map[[2]string]bool{}
	for dir, deps := range sources(t, production) {
		r := roomOf(dir)
		if r == nil {
			t.Errorf("%s is in no room: add a row to rules_test.go", dir)
			continue
		}
		entered[r.path] = true
		if isForTests(dir) {
			continue // it may import the same packages as tests
		}
		for ours := range deps {
			if to := roomOf(ours); to != nil {
				used[[2]string{r.path, to.path}] = true
			}
			if !r.allows(ours) {
				t.Errorf("%s imports %s, but %s may import only %v: %s", dir, ours, r.path, r.may, r.why)
			}
		}
	}
	for i, r := range rooms {
		if !entered[r.path] {
			t.Errorf("the row of %s is about no package: delete it", r.path)
		}
		if _, err := os.Stat(filepath.Join("../..", r.path, r.open)); err != nil {
			t.Errorf("the row of %s: the file to open first: %v", r.path, err)
		}
		for _, may := range r.may {
			at := slices.IndexFunc(rooms, func(o room) bool { return o.path == may })
			if at >= i || at < 0 && roomOf(may) == nil {
				t.Errorf("the row of %s names %s, which does not stand above it", r.path, may)
			}
			if inCore := strings.HasPrefix(r.path, "conductor/") && !strings.HasPrefix(r.path, "conductor/extras/"); inCore &&
				!used[[2]string{r.path, may}] {
				t.Errorf("the row of %s names %s, which it does not import: take it out of the row", r.path, may)
			}
		}
	}
}

// TestImportsOfTests: a test may import every room of the conductor and the lab. But the wire, boot, images and the
// agent are tested without a conductor, and only the lab's suites import a program.
func TestImportsOfTests(t *testing.T) {
	for dir, deps := range sources(t, tests) {
		r := roomOf(dir)
		if r == nil {
			t.Errorf("%s is in no room: add a row to rules_test.go", dir)
			continue
		}
		for ours := range deps {
			if r.allows(ours) || isForTests(ours) {
				continue
			}
			program := matches("cmd", ours) && !strings.HasPrefix(dir, "cmd/") && !strings.HasPrefix(dir, "lab/")
			if alone := slices.Contains(list("proto, images, pxe, agent"), r.path); alone || program {
				t.Errorf("a test of %s imports %s, but may import only %v and packages for tests", dir, ours, r.may)
			}
		}
	}
}

func TestForTests(t *testing.T) {
	for dir, deps := range sources(t, production) {
		for ours := range deps {
			if isForTests(ours) && !isForTests(dir) {
				t.Errorf("%s imports %s, which is for tests alone", dir, ours)
			}
		}
	}
}

func TestWalls(t *testing.T) {
	walk(t, production, func(dir string, f file) {
		for _, w := range walls {
			behind := func(p string) bool { return p == dir || p == roomOf(dir).path+"/*" }
			if !slices.ContainsFunc(w.packages, behind) {
				continue
			}
			for _, imported := range f.imports {
				ours := strings.TrimPrefix(imported, module)
				refused := func(p string) bool { return matches(p, ours) }
				if ours != dir && slices.ContainsFunc(w.refused, refused) {
					t.Errorf("%s imports %s: %s", f.path, imported, w.why)
				}
			}
		}
	})
}

func isForTests(dir string) bool {
	return strings.HasSuffix(path.Base(dir), "test") || slices.Contains(forTests, dir)
}

// roomOf is the room that a package is in; nil for none.
func roomOf(dir string) (in *room) {
	for i, r := range rooms {
		if matches(r.path, dir) && (in == nil || len(r.path) > len(in.path)) {
			in = &rooms[i]
		}
	}
	return in
}

func (r *room) allows(ours string) bool {
	of := roomOf(ours)
	return of != nil && (of.path == r.path || slices.Contains(r.may, of.path) ||
		slices.ContainsFunc(r.may, func(m string) bool { return m == ours }))
}

// matches reports whether dir is folder, or below it.
func matches(folder, dir string) bool { return dir == folder || strings.HasPrefix(dir, folder+"/") }
