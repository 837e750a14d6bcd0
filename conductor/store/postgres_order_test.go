package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// follower reads as a watch would that only polls: all that is newer than the revision it has read last.
type follower struct {
	s    *Database
	last int64
	seen map[string]int64
}

func (f *follower) poll(t *testing.T) {
	t.Helper()
	rows, revision, err := f.s.Objects(t.Context(), objects.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Revision > f.last {
			f.seen[r.Name] = r.Revision
		}
	}
	f.last = revision
}

func orderOf(t *testing.T) (*Database, *follower) {
	t.Helper()
	s, err := OpenPostgres(t.Context(), postgrestest.URL(t), PostgresOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, &follower{s: s, seen: map[string]int64{}}
}

func named(name string) []objects.Write {
	return []objects.Write{{Row: objects.Row{Key: objects.Key{Kind: "k", Name: name}, UID: name, Doc: []byte("{}")}}}
}

// slowly is a transaction that writes a document and stops where the test says.
type slowly struct {
	begun, write, written, commit chan struct{}
	done                          chan error
}

func (s *Database) slowly(ctx context.Context, name string) slowly {
	w := slowly{make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan error, 1)}
	go func() {
		w.done <- s.w.do(ctx, func(t *tx) error {
			close(w.begun)
			<-w.write
			_, err := t.writeObjects(named(name))
			close(w.written)
			<-w.commit
			return err
		})
	}()
	<-w.begun
	return w
}

// TestRevisionsOfLaterTransaction: the transaction that began later commits first. It has the
// lower revision.
func TestRevisionsOfLaterTransaction(t *testing.T) {
	s, f := orderOf(t)
	first := s.slowly(t.Context(), "first")
	var later []int64
	if err := s.WriteObjects(t.Context(), named("later"), func(r []int64) { later = r }); err != nil {
		t.Fatal(err)
	}
	f.poll(t)
	close(first.write)
	close(first.commit)
	if err := <-first.done; err != nil {
		t.Fatal(err)
	}
	f.poll(t)
	if want := map[string]int64{"later": 1, "first": 2}; !maps.Equal(f.seen, want) || !slices.Equal(later, []int64{1}) {
		t.Errorf("a watch saw %v, the writer was told %v; want %v", f.seen, later, want)
	}
}

// TestRevisionsWaitForCommit: a transaction that has a revision and is not committed keeps a
// later one from getting the next.
func TestRevisionsWaitForCommit(t *testing.T) {
	s, f := orderOf(t)
	first := s.slowly(t.Context(), "first")
	close(first.write)
	<-first.written
	done := make(chan error, 1)
	go func() { done <- s.WriteObjects(t.Context(), named("later"), func([]int64) {}) }()
	waits := func() (n int) {
		const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND " +
			"query LIKE '%objects_revision%'"
		if err := s.read.row(t.Context(), []any{&n}, waiting); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for waits() == 0 {
		select {
		case err := <-done:
			t.Fatalf("the later transaction came to its end (%v) before the first one, which has a lower revision", err)
		case <-time.After(time.Millisecond):
		}
	}
	f.poll(t)
	if f.last != 0 {
		t.Errorf("revision %d can be read before any commit", f.last)
	}
	close(first.commit)
	for _, c := range []chan error{first.done, done} {
		if err := <-c; err != nil {
			t.Fatal(err)
		}
	}
	f.poll(t)
	if want := map[string]int64{"first": 1, "later": 2}; !maps.Equal(f.seen, want) {
		t.Errorf("a watch saw %v, want %v", f.seen, want)
	}
}

// TestWatchMissesNothing: many transactions commit in any order while a watch polls.
func TestWatchMissesNothing(t *testing.T) {
	const writers, each = 6, 15
	s, f := orderOf(t)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				name := fmt.Sprintf("%d-%d", w, i)
				write := func(t *tx) error {
					_, err := t.writeObjects(named(name))
					if (w+i)%3 == 0 {
						time.Sleep(time.Millisecond) // the others go on where they can
					}
					return err
				}
				if err := s.w.do(t.Context(), write); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	over := make(chan struct{})
	go func() { all.Wait(); close(over) }()
	for more := true; more; {
		select {
		case <-over:
			more = false
		default:
		}
		f.poll(t)
	}
	revisions := slices.Sorted(maps.Values(f.seen))
	if len(revisions) != writers*each || len(slices.Compact(revisions)) != writers*each || f.last != writers*each {
		t.Errorf("a watch saw %d documents up to revision %d, want %d", len(f.seen), f.last, writers*each)
	}
}
