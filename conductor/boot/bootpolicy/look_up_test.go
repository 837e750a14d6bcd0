package bootpolicy

import (
	"fmt"
	"testing"
	"time"
)

// TestLookUps: the look-up of a machine is remembered for a moment, and the number of remembered look-ups is bounded.
func TestLookUps(t *testing.T) {
	var u lookUps
	now := time.Unix(0, 0)
	lately := func(mac string, at time.Time) bool {
		_, is := u.lately([]byte(mac), at)
		return is
	}
	if lately("a", now) {
		t.Error("one that nobody looked for is remembered")
	}
	u.note([]byte("a"), &lookUp{at: now})
	if !lately("a", now.Add(lookUpFor-1)) || lately("a", now.Add(lookUpFor)) || lately("b", now) {
		t.Error("one that was looked for is not remembered as long as it should be")
	}
	for i := range 3 * maxLookUps {
		u.note([]byte(fmt.Sprint(i)), &lookUp{at: now})
		if i > 0 && !lately(fmt.Sprint(i-1), now) {
			t.Fatal("many who ask have the last one forgotten")
		}
	}
	if n := len(u.of) + len(u.older); n > 2*maxLookUps {
		t.Errorf("%d are remembered", n)
	}
}
