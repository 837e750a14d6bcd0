package plan

import "testing"

// TestFlagsOfKeys: flags of driver_info may be texts and numbers, as Ironic's client writes them.
func TestFlagsOfKeys(t *testing.T) {
	for _, c := range []struct {
		value any
		want  bool
	}{
		{true, true}, {"True", true}, {" yes ", true}, {"1", true}, {1.0, true},
		{nil, false}, {false, false}, {"", false}, {"off", false}, {0.0, false}, {"maybe", false},
	} {
		if got := truth(c.value); got != c.want {
			t.Errorf("%v is %t", c.value, got)
		}
	}
}
