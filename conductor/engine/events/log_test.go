package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// site is a store with a log that runs.
type site struct {
	*Log
	store *mem.Store
}

func begin(t testing.TB, s *mem.Store) site {
	t.Helper()
	l, err := New(t.Context(), Config{Store: s, Log: slog.New(slog.DiscardHandler), Keep: 10, Age: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var ran sync.WaitGroup
	ran.Go(func() { l.Run(ctx) })
	t.Cleanup(func() { stop(); ran.Wait() })
	return site{l, s}
}

// tell commits events with numbers.
func (s site) tell(t testing.TB, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		doc := fmt.Sprintf(`{"type":"n.%d"}`, i)
		err := s.store.PutEvents(t.Context(), []node.ChangeEvent{{At: time.Now(), Type: fmt.Sprint("n.", i), Node: "n",
			Owner: "o", Lessee: "l", Doc: json.RawMessage(doc)}})
		if err != nil {
			t.Fatal(err)
		}
		s.Wake()
	}
}

// types are the types of the events that a query is answered with, and the last cursor.
func (s site) types(t testing.TB, q Query) (types, last string, err error) {
	t.Helper()
	var all []string
	err = s.Follow(t.Context(), q, func(found []Event) error {
		for _, e := range found {
			all, last = append(all, e.Type), e.Cursor
			var sent nodeapi.Event
			if err := json.Unmarshal(e.Line, &sent); err != nil || sent.Type != e.Type || sent.Cursor != e.Cursor {
				t.Errorf("line %s of %s: %v", e.Line, e.Type, err)
			}
		}
		return nil
	})
	return strings.Join(all, " "), last, err
}

// TestCursors: events are asked for from the oldest, from a cursor, from now on, in another process, and by cursors
// that are none.
func TestCursors(t *testing.T) {
	s := begin(t, mem.New())
	s.tell(t, 1, 4)
	got, last, err := s.types(t, Query{After: "0"})
	if got != "n.1 n.2 n.3" || err != nil {
		t.Fatalf("from the oldest: %s, %v", got, err)
	}
	if got, _, err = s.types(t, Query{After: last}); got != "" || err != nil {
		t.Errorf("after the last: %s, %v", got, err)
	}
	s.tell(t, 4, 6)
	again := begin(t, s.store) // a restart
	if got, _, err = again.types(t, Query{After: last}); got != "n.4 n.5" || err != nil {
		t.Errorf("after a restart: %s, %v", got, err)
	}
	go func() {
		time.Sleep(50 * time.Millisecond)
		s.tell(t, 6, 7)
	}()
	if got, _, err = s.types(t, Query{Wait: time.Minute}); got != "n.6" || err != nil {
		t.Errorf("a long poll from now on: %s, %v", got, err)
	}
	s.tell(t, 7, 30)
	s.prune(t.Context())
	if got, _, err = s.types(t, Query{After: "0"}); !strings.HasPrefix(got, "n.20 ") || err != nil {
		t.Errorf("more events than are kept: %s, %v", got, err)
	}
	s.Age = -time.Hour
	s.prune(t.Context())
	if got, _, err = s.types(t, Query{After: "0"}); got != "" || err != nil {
		t.Errorf("old events: %s, %v", got, err)
	}
	for name, tc := range map[string]struct {
		cursor string
		gone   bool
		text   string
	}{
		"deleted":          {last, true, "--events-keep"},
		"another database": {cursor{"other", map[string]int64{every: 1}}.String(), false, "of another database"},
		"the future":       {cursor{"memory", map[string]int64{every: 1000}}.String(), true, "restored from a backup"},
		"nonsense":         {"nonsense!", false, "no cursor"},
		"another form":     {"bm9uc2Vuc2U", false, "no cursor"},
		"no position":      {cursor{"memory", nil}.String(), false, "of another database"},
		"too long":         {strings.Repeat("A", 5000), false, "too long"},
	} {
		_, _, err := s.types(t, Query{After: tc.cursor})
		var bad *CursorError
		if !errors.As(err, &bad) || bad.Gone != tc.gone || !strings.Contains(bad.Text, tc.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSeen: a caller gets the events it may see; a lessee gets them without the owner's data.
func TestSeen(t *testing.T) {
	s := begin(t, mem.New())
	doc := `{"type":"node.updated","user":"root","notes":[{"text":"secret"}],"node":{"uuid":"n","last_error":"secret"}}`
	for _, e := range []node.ChangeEvent{{Type: "a", Doc: []byte(doc)}, {Type: "b", Lessee: "l", Doc: []byte(doc)}} {
		if err := s.store.PutEvents(t.Context(), []node.ChangeEvent{e}); err != nil {
			t.Fatal(err)
		}
	}
	var lines []string
	err := s.Follow(t.Context(), Query{After: "0", See: func(e *Event) (bool, bool) { return e.Lessee == "l", true }},
		func(found []Event) error {
			for _, e := range found {
				lines = append(lines, string(e.Line))
			}
			return nil
		})
	if err != nil || len(lines) != 1 || strings.Contains(lines[0], "secret") || strings.Contains(lines[0], "root") ||
		!strings.Contains(lines[0], `"uuid":"n"`) {
		t.Errorf("a lessee sees %q, %v", lines, err)
	}
}

// TestFollowers: a thousand follow; each sees every event once, in order, however late it begins.
func TestFollowers(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t) }) // after the log has ended
	const followers, count = 1000, 600
	s := begin(t, mem.New())
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var all sync.WaitGroup
	for f := range followers {
		all.Go(func() {
			next := 0
			err := s.Follow(ctx, Query{After: "0", Wait: -1}, func(found []Event) error {
				for _, e := range found {
					if want := fmt.Sprint("n.", next); e.Type != want {
						return fmt.Errorf("follower %d: %s, want %s", f, e.Type, want)
					}
					next++
				}
				if next == count {
					return context.Canceled
				}
				return nil
			})
			if !errors.Is(err, context.Canceled) || next != count {
				t.Errorf("follower %d has seen %d events: %v", f, next, err)
			}
		})
	}
	s.tell(t, 0, count)
	all.Wait()
}

// TestPasses: boot stages reach the current followers, have no cursor, and are not stored.
func TestPasses(t *testing.T) {
	s := begin(t, mem.New())
	if s.Followed() {
		t.Error("somebody follows")
	}
	go func() {
		for !s.Followed() {
			time.Sleep(time.Millisecond)
		}
		for range 100 { // until the follower has begun
			s.Happened(node.Node{UUID: "n"}, nodeapi.Event{Type: "boot.stage", Stage: &nodeapi.EventStage{Name: "kernel"}})
			time.Sleep(time.Millisecond)
		}
	}()
	got, last, err := s.types(t, Query{Wait: 10 * time.Second})
	if !strings.HasPrefix(got, "boot.stage") || last != "" || err != nil {
		t.Errorf("%s with cursor %q: %v", got, last, err)
	}
	if got, _, _ := s.types(t, Query{After: "0"}); got != "" {
		t.Errorf("kept: %s", got)
	}
}

// TestSlow: a follower that reads slower than events are deleted gets an error.
func TestSlow(t *testing.T) {
	s := begin(t, mem.New())
	s.tell(t, 0, 3*page)
	s.Age = 0
	err := s.Follow(t.Context(), Query{After: "0", Wait: -1}, func(found []Event) error {
		if len(found) > 0 {
			s.tell(t, 0, ringSize+page)
			s.prune(t.Context())
		}
		return nil
	})
	var bad *CursorError
	if !errors.As(err, &bad) || !bad.Gone {
		t.Errorf("a follower that missed events: %v", err)
	}
}

func FuzzCursor(f *testing.F) {
	for _, c := range []cursor{{"d", map[string]int64{every: 1}}, {"d", map[string]int64{"a=b \"": 0, "": 7}}, {"d",
		nil}} {
		f.Add(c.String())
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCursor(text)
		if err != nil {
			return
		}
		if again, err := parseCursor(c.String()); err != nil || again.String() != c.String() {
			t.Errorf("%q: %v, %v", text, again, err)
		}
	})
}
