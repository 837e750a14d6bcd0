package archtest

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

func TestImports(t *testing.T) {
	imports := sources(t, production)
	applied := map[*rule]bool{}
	for dir, deps := range imports {
		r := ruleOf(dir)
		if r == nil {
			t.Errorf("%s has no rule: add one to rules_test.go", dir)
			continue
		}
		applied[r] = true
		if !r.direct {
			deps = reach(imports, deps)
		}
		for ours := range deps {
			if !r.allows(ours, dir) {
				t.Errorf("%s imports %s, but may import only %v: %s", dir, ours, r.may, r.why)
			}
		}
	}
	for i := range rules {
		if !applied[&rules[i]] {
			t.Errorf("the rule of %v is about no package: delete it", rules[i].packages)
		}
	}
}

// TestImportsOfTests: a test imports what its package may, the rule's packages for tests, and packages that are made
// for tests. Only its direct imports count.
func TestImportsOfTests(t *testing.T) {
	for dir, deps := range sources(t, tests) {
		r := ruleOf(dir)
		for ours := range deps {
			if !r.allows(ours, dir) && !isForTests(ours) && !matchesAny(r.tests, ours) {
				t.Errorf("a test of %s imports %s, but may import only %v, %v and packages for tests", dir, ours, r.may, r.tests)
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

func TestRefusals(t *testing.T) {
	walk(t, production, func(dir string, f file) {
		for _, r := range refusals {
			for _, imported := range f.imports {
				if matchesAny(r.packages, dir) &&
					slices.ContainsFunc(r.refused, func(p string) bool { return matches(p+"/*", imported) }) {
					t.Errorf("%s imports %s: %s", f.path, imported, r.why)
				}
			}
		}
	})
}

func isForTests(dir string) bool {
	return strings.HasSuffix(path.Base(dir), "test") || slices.Contains(forTests, dir)
}

// ruleOf picks the rule with the longest match.
func ruleOf(dir string) (best *rule) {
	longest := 0
	for i := range rules {
		for _, p := range rules[i].packages {
			if matches(p, dir) && len(p) > longest {
				best, longest = &rules[i], len(p)
			}
		}
	}
	return best
}

func (r *rule) allows(ours, self string) bool { return ours == self || matchesAny(r.may, ours) }

func matchesAny(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, dir) })
}

func matches(pattern, dir string) bool {
	if base, ok := strings.CutSuffix(pattern, "/*"); ok {
		return dir == base || strings.HasPrefix(dir, base+"/")
	}
	return dir == pattern
}

// reach adds to deps all that they import in turn.
func reach(imports map[string]map[string]bool, deps map[string]bool) map[string]bool {
	seen := map[string]bool{}
	next := slices.Collect(maps.Keys(deps))
	for len(next) > 0 {
		d := next[len(next)-1]
		next = next[:len(next)-1]
		if !seen[d] {
			seen[d] = true
			next = slices.AppendSeq(next, maps.Keys(imports[d]))
		}
	}
	return seen
}
