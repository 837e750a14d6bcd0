package node_test

import (
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

func TestCapabilities(t *testing.T) {
	for _, c := range []struct{ caps, value, set, unset string }{
		{"", "", "b:2", ""},
		{"b:1", "1", "b:2", ""},
		{"a:1", "", "a:1,b:2", "a:1"},
		{"a:1,b:1,c:1", "1", "a:1,b:2,c:1", "a:1,c:1"},
		{"b:1,a:1,b:3", "3", "b:2,a:1", "a:1"},
		{"a:1, b:x:y ,,", "x:y", "a:1,b:2", "a:1"},
		{"b,bb:1", "", "b:2,bb:1", "bb:1"},
	} {
		if got := node.Capability(c.caps, "b"); got != c.value {
			t.Errorf("b of %q is %q, want %q", c.caps, got, c.value)
		}
		if got := node.SetCapability(c.caps, "b", "2"); got != c.set {
			t.Errorf("%q with b is %q, want %q", c.caps, got, c.set)
		}
		if got := node.UnsetCapability(c.caps, "b"); got != c.unset {
			t.Errorf("%q without b is %q, want %q", c.caps, got, c.unset)
		}
	}
}
