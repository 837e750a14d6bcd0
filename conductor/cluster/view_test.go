package cluster

import (
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/store"
)

// TestSize: a frozen member counts, since its connections are open; a member that is long gone does not.
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

// TestDatabaseClockSet: the time of a leadership that was not renewed runs by the local clock, regardless of the
// database's clock. A leadership that was renewed, taken or given back is measured anew.
func TestDatabaseClockSet(t *testing.T) {
	const days = 8 * 24 * time.Hour
	now := time.Now()
	for name, tc := range map[string]struct {
		until string
		left  time.Duration
		want  time.Duration
	}{
		"nothing happens":                       {"1", 3 * time.Second, 3 * time.Second},
		"set forward":                           {"1", 3*time.Second - days, 3 * time.Second},
		"set back":                              {"1", 3*time.Second + days, 3 * time.Second},
		"renewed":                               {"2", 5 * time.Second, holdTime},
		"renewed, and set back before the look": {"2", 5*time.Second + days, holdTime},
		"renewed, and set forward before the look": {"2", 5*time.Second - days, holdTime},
		"given back": {"-infinity", 0, 0},
	} {
		last := &View{at: now.Add(-time.Second), leaders: []store.Leader{{Epoch: 7, Until: "1", Left: 4 * time.Second}}}
		v := &View{at: now, leaders: []store.Leader{{Epoch: 7, Until: tc.until, Left: tc.left}}}
		v.goOnFrom(last)
		if got := v.leaders[0].Left; got != tc.want {
			t.Errorf("%s: it lasts %s, expected %s", name, got, tc.want)
		}
	}
}
