package reconciler

import "testing"

// TestWrites: every write says why it has its place, and comes once.
func TestWrites(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range writes {
		if w.name == "" || w.why == "" || w.do == nil || seen[w.name] {
			t.Errorf("write %q: reason %q, seen before: %v", w.name, w.why, seen[w.name])
		}
		seen[w.name] = true
	}
}
