package cluster

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/store"
)

// led notes the leader of each group, and checks that there was never more than one.
type led struct {
	t     *testing.T
	mu    sync.Mutex
	now   map[string]string // by group
	terms int
}

func (l *led) begin(group, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if other := l.now[group]; other != "" {
		l.t.Errorf("%s leads %q while %s does", name, group, other)
	}
	l.now[group] = name
	l.terms++
}

func (l *led) end(group, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now[group] == name {
		delete(l.now, group)
	}
}

func (l *led) leader(group string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now[group]
}

// join starts a member. It leads until its lease has ended, as something that cannot be stopped in between does.
func join(t *testing.T, r *rows, l *led, name, group string) (stop func()) {
	t.Helper()
	return joinBy(t, rowsOf{r, name}, l, name, group)
}

func joinBy(t *testing.T, r Rows, l *led, name, group string) (stop func()) {
	t.Helper()
	c, err := Join(t.Context(), Config{Rows: r, Log: quiet(), Self: store.Member{Name: name, Group: group},
		Lead: func(ctx context.Context, term *Term) error {
			l.begin(term.Lease.Group, name)
			<-ctx.Done()
			l.end(term.Lease.Group, name)
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("%s ended with %v", name, err)
		}
	}
}

// TestTakeovers: one member leads at a time; when it ends in order, is drained or cut off, another one leads within
// the time for that.
func TestTakeovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := newRows(), &led{t: t, now: map[string]string{}}
		within := func(what string, limit time.Duration, want string) {
			t.Helper()
			began := time.Now()
			for l.leader("") != want {
				time.Sleep(10 * time.Millisecond)
				if time.Since(began) > limit {
					t.Fatalf("%s: %q leads after %s, want %s", what, l.leader(""), limit, want)
				}
			}
		}
		stopA := join(t, r, l, "a", "")
		within("the first", time.Second, "a")
		stopB := join(t, r, l, "b", "")
		time.Sleep(time.Minute)
		within("both", 0, "a")
		stopA()
		within("ended in order", time.Second, "b")
		stopA = join(t, r, l, "a", "")
		r.set(func() { m := r.members["b"]; m.Drained = true; r.members["b"] = m })
		within("drained", time.Second, "a")
		r.set(func() { m := r.members["b"]; m.Drained = false; r.members["b"] = m; r.cut["a"] = true })
		within("cut off", holdTime+time.Second, "b")
		r.set(func() { r.cut["a"] = false })
		time.Sleep(time.Minute)
		within("back again", 0, "b")
		stopA()
		stopB()
		if l.terms != 4 {
			t.Errorf("%d terms, want 4", l.terms)
		}
	})
}

// TestBehind: a member that does not know the schema leads no longer, and goes on taking part.
func TestBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := newRows(), &led{t: t, now: map[string]string{}}
		stopA := join(t, r, l, "a", "")
		time.Sleep(time.Second)
		stopB := join(t, r, l, "b", "")
		time.Sleep(time.Second)
		if l.leader("") != "a" {
			t.Errorf("at first %v", l.now)
		}
		r.set(func() { r.newer["a"] = true })
		time.Sleep(beatEvery + time.Second)
		if l.leader("") != "b" {
			t.Errorf("once the schema is newer: %v, want b", l.now)
		}
		stopB()
		time.Sleep(time.Minute)
		if l.leader("") != "" {
			t.Errorf("alone, and behind: %v leads", l.now)
		}
		if seen := r.seen("a"); time.Since(seen) > beatEvery+time.Second {
			t.Errorf("the last sign of life was %s ago", time.Since(seen))
		}
		stopA()
	})
}

// TestGroups: a member leads its own group, and the default group only while that has no member.
func TestGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := newRows(), &led{t: t, now: map[string]string{}}
		stopRack := join(t, r, l, "rack", "rack-a")
		time.Sleep(time.Second)
		if l.leader("rack-a") != "rack" || l.leader("") != "rack" {
			t.Errorf("alone: %v", l.now)
		}
		stop := join(t, r, l, "main", "")
		time.Sleep(3 * time.Second)
		if l.leader("rack-a") != "rack" || l.leader("") != "main" {
			t.Errorf("with a member of the default group: %v", l.now)
		}
		stopRack()
		stop()
	})
}

// TestFrozen: a lease that was not renewed is refused at once, although no timer has fired yet.
func TestFrozen(t *testing.T) {
	lease := newLease("g", 1, time.Now().Add(-validTime+time.Minute))
	if err := lease.Check(); err != nil {
		t.Errorf("fresh: %v", err)
	}
	lease.prolong(time.Now().Add(-validTime - time.Millisecond))
	if lease.Check() == nil || lease.Context().Err() == nil {
		t.Error("an old lease goes on")
	}
	lease.prolong(time.Now())
	if lease.Check() == nil {
		t.Error("a lease came to life again")
	}
}
