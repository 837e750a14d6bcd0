package plan

import (
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestShareOfLimit: half of a limit is for others, but only while these have some; the more that a project has then
// keeps no other out.
func TestShareOfLimit(t *testing.T) {
	type counts = map[string]int
	for _, c := range []struct {
		owner    string
		at       counts
		admitted bool
	}{
		{"blue", counts{"blue": 49, "red": 0}, true},
		{"blue", counts{"blue": 50}, false},
		{"blue", counts{"blue": 24, "red": 1}, true},
		{"blue", counts{"blue": 25, "red": 1}, false},
		{"blue", counts{"blue": 25, "": 1}, false},
		{"red", counts{"blue": 50}, true},
		{"red", counts{"blue": 50, "red": 24}, true},
		{"", counts{"blue": 50, "": 24}, true},
		{"", counts{"blue": 50, "": 25}, false},
		{"", counts{"": 49}, true},
	} {
		d := decision{n: node.Node{Owner: c.owner}, f: Facts{Settings: Settings{MaxConcurrentClean: 50},
			Counts: map[string]map[node.State]int{}}}
		for owner, n := range c.at {
			d.f.Counts[owner] = map[node.State]int{node.CleanWait: n}
		}
		if err := underLimit(&d, Request{Verb: node.Clean}); (err == nil) != c.admitted {
			t.Errorf("%v: a node of %q: %v, want admitted %v", c.at, c.owner, err, c.admitted)
		}
	}
}
