package bootpolicy

import (
	"fmt"
	"testing"
	"time"
)

// TestUnenrolled: a machine that was in no port is remembered for a moment, and of many who ask a bounded number.
func TestUnenrolled(t *testing.T) {
	var u unenrolled
	now := time.Unix(0, 0)
	if u.lately("a", now) {
		t.Error("one that nobody looked for is remembered")
	}
	u.note("a", now)
	if !u.lately("a", now.Add(unenrolledFor-1)) || u.lately("a", now.Add(unenrolledFor)) || u.lately("b", now) {
		t.Error("one that was looked for is not remembered as long as it should be")
	}
	for i := range 3 * maxUnenrolled {
		u.note(fmt.Sprint(i), now)
	}
	if len(u.seen) > maxUnenrolled {
		t.Errorf("%d are remembered", len(u.seen))
	}
}
