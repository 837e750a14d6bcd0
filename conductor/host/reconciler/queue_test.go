package reconciler

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPlaces: hosts of a group are looked at in the order in which they are due, so many at a time, whatever becomes of
// those of other groups.
func TestPlaces(t *testing.T) {
	groups := map[key]string{}
	q := newQueue(2, func(k key) string { return groups[k] })
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now := start
	add := func(name, group string, after time.Duration) {
		groups[key{name: name}] = group
		q.add(key{name: name}, start.Add(after))
	}
	taken := func() string {
		var all []string
		for {
			k, group, _, ok := q.next(now)
			if !ok {
				return strings.Join(all, " ")
			}
			all = append(all, k.name+"@"+group)
		}
	}
	expect := func(when, want string) {
		t.Helper()
		if diff := cmp.Diff(want, taken()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	for i, name := range []string{"a1", "a2", "a3", "a4"} {
		add(name, "a", time.Duration(i))
	}
	add("b1", "b", 10)
	add("c1", "", time.Second)
	now = start.Add(100)
	expect("of a group with too many", "a1@a a2@a b1@b")
	if _, _, wait, _ := q.next(now); wait != time.Second-100 {
		t.Errorf("the next is awaited for %s", wait)
	}
	expect("before anything ends", "")
	q.add(key{name: "a1"}, now) // it is being looked at
	q.done(key{name: "a1"}, time.Time{})
	expect("with a place that is free again", "a3@a")
	q.done(key{name: "a2"}, time.Time{})
	q.done(key{name: "a3"}, time.Time{})
	expect("with two", "a4@a a1@a")
	now = start.Add(time.Second)
	expect("later", "c1@")
	groups[key{name: "c1"}] = "b" // as was found out
	q.done(key{name: "c1"}, now)
	expect("of a host whose group was another", "c1@b")
	for _, name := range []string{"a1", "a4", "b1", "c1"} {
		q.done(key{name: name}, time.Time{})
	}
	if len(q.items) > 0 || len(q.groups) > 0 {
		t.Errorf("left behind: %v, %v", q.items, q.groups)
	}
}
