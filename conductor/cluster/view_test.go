package cluster

import (
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/store"
)

// TestSize: a member that is frozen counts, since its connections are open; one that is long gone does not.
func TestSize(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	v := View{Members: []store.Member{
		{Name: "a", Alive: true, Seen: now},
		{Name: "b", Group: "rack", Seen: now.Add(-time.Minute)},
		{Name: "c", Group: "gone", Seen: now.Add(-time.Hour)},
	}}
	if members, groups := v.Size(); members != 2 || groups != 2 {
		t.Errorf("%d members, %d groups, want two of each", members, groups)
	}
	if members, groups := new(View).Size(); members != 0 || groups != 1 {
		t.Errorf("of nothing: %d members, %d groups", members, groups)
	}
}
