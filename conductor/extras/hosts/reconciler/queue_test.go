package reconciler

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// TestPlaces: hosts of a group are looked at in the order of their due times, a bounded number at a time. Hosts of
// other groups do not matter.
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
	add("d1", "d", time.Minute)
	add("d1", "b", time.Hour) // its annotation names another group now
	q.done(key{name: "c1"}, time.Time{})
	now = start.Add(time.Minute)
	expect("of a host that was moved while it waited", "d1@b")
	if q.groups["d"] != nil {
		t.Error("the group that it has left is kept")
	}
	for _, name := range []string{"a1", "a4", "b1", "d1"} {
		q.done(key{name: name}, time.Time{})
	}
	if len(q.items) > 0 || len(q.groups) > 0 {
		t.Errorf("left behind: %v, %v", q.items, q.groups)
	}
}

// TestFreedPlaces: a place that is free again lets the next host of the group go on. It makes no capacity.
func TestFreedPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1, func(key) string { return "" })
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var begun []string
		woken := 0
		go q.serve(ctx, func(k key, _ string) { begun = append(begun, k.name) }, time.Now, func() { woken++ })
		q.add(key{name: "a"}, time.Now())
		synctest.Wait()
		q.add(key{name: "b"}, time.Now())
		synctest.Wait()
		before := woken
		q.done(key{name: "a"}, time.Time{})
		synctest.Wait()
		if diff := cmp.Diff([]string{"a", "b"}, begun); diff != "" || woken != before {
			t.Errorf("%d looks at capacity for a freed place; begun (-want +got):\n%s", woken-before, diff)
		}
	})
}

// TestGroupOf: before the first look at a host, the annotation gives its group.
func TestGroupOf(t *testing.T) {
	x, k := newIndex(), key{"default", "a"}
	expect := func(when, want string) {
		t.Helper()
		if got := x.groupOf(k); got != want {
			t.Errorf("%s the group is %q, expected %q", when, got, want)
		}
	}
	h := hostapi.Host{ObjectMeta: hostapi.ObjectMeta{Namespace: "default", Name: "a",
		Annotations: map[string]string{hostapi.AnnotationGroup: " Rack-A"}}}
	expect("of an unknown host", "")
	x.update(h)
	expect("before the first look", "rack-a")
	x.setGroups(k, []string{"rack-b", "rack-a"})
	expect("of a node that is to be moved", "rack-b")
	x.setGroups(k, []string{"", "rack-a"})
	expect("of a node of the default group that is to be moved", "")
	x.setGroups(k, []string{""})
	expect("of such a node that stays since its host is deleted", "")
	h.Annotations = nil
	x.update(h)
	x.setGroups(k, []string{""})
	expect("without the annotation", "")
	x.remove(k)
	expect("of a host that is gone", "")
}
