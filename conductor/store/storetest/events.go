package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// eventOf makes an event.
func eventOf(kind string) node.ChangeEvent {
	return node.ChangeEvent{At: time.UnixMicro(1700000000000000).UTC(), Type: kind, Node: "n", Group: "g", Owner: "o",
		Lessee: "l", Doc: json.RawMessage(`{"type":"` + kind + `","hostile":"\u0000"}`)}
}

// events are all after a position.
func events(t *testing.T, s store.Store, after int64) []node.ChangeEvent {
	t.Helper()
	if _, err := s.SequenceEvents(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := s.Events(t.Context(), after, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func testEvents(t *testing.T, s store.Store) {
	l, err := s.EventLog(t.Context())
	if err != nil || l.ID == "" || l.Newest != 0 || l.Gone != 0 {
		t.Fatalf("the log of a new store: %+v, %v", l, err)
	}
	n := node.Node{UUID: "u1", Driver: "d", ProvisionState: node.Enroll}
	if _, err := s.Commit(t.Context(), node.Change{Insert: &n, Events: []node.ChangeEvent{eventOf("a"),
		eventOf("b")}}); err != nil {
		t.Fatal(err)
	}
	// A refused change writes no events.
	_, err = s.Commit(t.Context(), node.Change{Insert: &n, Events: []node.ChangeEvent{eventOf("never")}})
	if !errors.Is(err, node.ErrConflict) {
		t.Fatalf("the same node again: %v", err)
	}
	if err := s.PutEvents(t.Context(), []node.ChangeEvent{eventOf("c")}); err != nil {
		t.Fatal(err)
	}
	all := events(t, s, 0)
	var want []node.ChangeEvent
	for i, kind := range []string{"a", "b", "c"} {
		e := eventOf(kind)
		if i < len(all) {
			e.Position = all[i].Position
		}
		want = append(want, e)
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Fatalf("events (-want +got):\n%s", diff)
	}
	if rest := events(t, s, all[1].Position); len(rest) != 1 || rest[0].Type != "c" {
		t.Errorf("after the second: %+v", rest)
	}
	if l, err = s.EventLog(t.Context()); err != nil || l.Newest != all[2].Position {
		t.Errorf("the log: %+v, %v; want up to %d", l, err, all[2].Position)
	}
	if _, err := s.Commit(t.Context(), node.Change{Delete: "u1", Events: []node.ChangeEvent{eventOf("d")}}); err != nil {
		t.Fatal(err)
	}
	if all = events(t, s, 0); len(all) != 4 {
		t.Errorf("%d events outlive their node, want 4", len(all))
	}
}

func testOldEvents(t *testing.T, s store.Store) {
	old, young := eventOf("old"), eventOf("young")
	young.At = young.At.Add(time.Hour)
	if err := s.PutEvents(t.Context(), []node.ChangeEvent{old, old, young, young, young}); err != nil {
		t.Fatal(err)
	}
	all := events(t, s, 0)
	for _, step := range []struct {
		name string
		keep node.EventRetention
		want int
	}{
		{"all are kept", node.EventRetention{Count: 5, Since: old.At, Needed: -1}, 5},
		{"somebody needs all but one", node.EventRetention{Count: 1, Since: young.At, Needed: all[0].Position}, 4},
		{"too old", node.EventRetention{Count: 5, Since: young.At, Needed: -1}, 3},
		{"too many", node.EventRetention{Count: 1, Since: old.At, Needed: -1}, 1},
	} {
		if _, err := s.PruneEvents(t.Context(), step.keep); err != nil {
			t.Fatal(err)
		}
		if got := events(t, s, 0); len(got) != step.want {
			t.Errorf("%s: %d events, want %d", step.name, len(got), step.want)
		}
	}
	if l, err := s.EventLog(t.Context()); err != nil || l.Gone != all[3].Position || l.Newest != all[4].Position {
		t.Errorf("the log: %+v, %v", l, err)
	}
	if _, err := s.PruneEvents(t.Context(), node.EventRetention{Since: young.At.Add(1), Needed: -1}); err != nil {
		t.Fatal(err)
	}
	if err := s.PutEvents(t.Context(), []node.ChangeEvent{old}); err != nil {
		t.Fatal(err)
	}
	if got := events(t, s, 0); len(got) != 1 || got[0].Position <= all[4].Position {
		t.Errorf("after all were gone: %+v; want a position after %d", got, all[4].Position)
	}
}

// testEventOrder: a follower sees every event of many writers once, and the events of one node in the order of its
// revisions.
func testEventOrder(t *testing.T, s store.Store) {
	const writers, each = 5, 12
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			n := node.Node{UUID: fmt.Sprint("n", w), Driver: "d", ProvisionState: node.Enroll}
			c := node.Change{Insert: &n}
			for i := range each {
				e := eventOf(fmt.Sprint(i))
				e.Node = n.UUID
				c.Events = []node.ChangeEvent{e}
				saved, err := s.Commit(t.Context(), c)
				if err != nil {
					t.Error(err)
					return
				}
				c = node.Change{Save: &saved}
			}
		})
	}
	over := make(chan struct{})
	go func() { all.Wait(); close(over) }()
	seen := map[string][]string{}
	last := int64(0)
	follow := func() {
		for _, e := range events(t, s, last) {
			if e.Position <= last {
				t.Errorf("position %d after %d", e.Position, last)
			}
			last = e.Position
			seen[e.Node] = append(seen[e.Node], e.Type)
		}
	}
	for running := true; running; {
		select {
		case <-over:
			running = false
		default:
		}
		follow()
	}
	var want []string
	for i := range each {
		want = append(want, fmt.Sprint(i))
	}
	for w := range writers {
		if got := seen[fmt.Sprint("n", w)]; !slices.Equal(got, want) {
			t.Errorf("writer %d: events %v", w, got)
		}
	}
}

func testEventReaders(t *testing.T, s store.Store) {
	for _, step := range []struct {
		save int64
		name string
	}{{7, "a"}, {3, "b"}, {9, "a"}, {0, "b"}} {
		if err := s.SaveEventReader(t.Context(), step.name, step.save); err != nil {
			t.Fatal(err)
		}
		if at, known, err := s.EventReader(t.Context(), step.name); at != step.save || !known || err != nil {
			t.Errorf("%s is at %d, %v, %v; want %d", step.name, at, known, err, step.save)
		}
	}
	for _, step := range []struct {
		keep, known []string
	}{{[]string{"b", "c"}, []string{"b"}}, {nil, nil}} {
		if err := s.KeepEventReaders(t.Context(), step.keep); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b", "c"} {
			at, known, err := s.EventReader(t.Context(), name)
			if want := slices.Contains(step.known, name); at != 0 || known != want || err != nil {
				t.Errorf("%v are kept: %s is at %d, %v, %v", step.keep, name, at, known, err)
			}
		}
	}
}

// testDocumentEvents: a write of documents commits the events of its context, and a refused write none.
func testDocumentEvents(t *testing.T, s store.Store) {
	for _, kind := range []string{"created", "never"} {
		err := s.WriteObjects(node.WithEvents(t.Context(), eventOf(kind)), []objects.Write{document("a", "b")},
			func([]int64) {})
		if refused := kind == "never"; errors.Is(err, objects.ErrStale) != refused {
			t.Fatalf("%s: %v", kind, err)
		}
	}
	if all := events(t, s, 0); len(all) != 1 || all[0].Type != "created" {
		t.Errorf("events %+v, want that of the write that was done", all)
	}
}
