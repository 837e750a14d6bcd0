package exchange

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
)

type projectKey struct{}

// Of charges a call's bytes in a room, and its turns, to a project; "" is one, too.
func Of(ctx context.Context, project string) context.Context {
	return context.WithValue(ctx, projectKey{}, project)
}

func projectOf(ctx context.Context) string {
	project, _ := ctx.Value(projectKey{}).(string)
	return project
}

// shares hands out bytes or turns, as a semaphore does. The waiting project that holds least comes first, and among
// equals the least recently served. Hostile machines of one project so delay only their own project.
type shares struct {
	mu      sync.Mutex
	free    int64
	held    map[string]int64 // by project
	last    map[string]int   // when a project was given some
	given   int              // how often anyone was
	waiting []*waiter        // in order of their coming
}

type waiter struct {
	project string
	n       int64
	given   chan struct{}
}

func newShares(free int64) *shares {
	return &shares{free: free, held: map[string]int64{}, last: map[string]int{}}
}

// try takes n, unless it would have to wait.
func (s *shares) try(ctx context.Context, n int64) (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ok = len(s.waiting) == 0 && n <= s.free; ok {
		s.give(projectOf(ctx), n)
	}
	return ok
}

// take waits for n.
func (s *shares) take(ctx context.Context, n int64) (err error) {
	w := &waiter{projectOf(ctx), n, make(chan struct{})}
	s.change(func() { s.waiting = append(s.waiting, w) })
	select {
	case <-w.given:
	case <-ctx.Done():
		s.change(func() {
			if i := slices.Index(s.waiting, w); i >= 0 { // not given at this moment
				s.waiting = slices.Delete(s.waiting, i, i+1)
				err = fmt.Errorf("%w (%v)", ErrFull, ctx.Err()) //nolint:errorlint // it is not the machine that was late
			}
		})
	}
	return err
}

// release gives n back.
func (s *shares) release(ctx context.Context, n int64) {
	s.change(func() {
		s.free += n
		if s.held[projectOf(ctx)] -= n; s.held[projectOf(ctx)] == 0 {
			delete(s.held, projectOf(ctx))
		}
		if len(s.held) == 0 {
			clear(s.last)
		}
	})
}

// change makes a change, and gives the free bytes or turns to waiting callers.
func (s *shares) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for do(); len(s.waiting) > 0; {
		next := slices.MinFunc(s.waiting, func(a, b *waiter) int {
			return cmp.Or(cmp.Compare(s.held[a.project], s.held[b.project]), cmp.Compare(s.last[a.project], s.last[b.project]))
		})
		if next.n > s.free {
			return // smaller ones do not pass it by, or it would wait for ever
		}
		s.waiting = slices.DeleteFunc(s.waiting, func(w *waiter) bool { return w == next })
		s.give(next.project, next.n)
		close(next.given)
	}
}

func (s *shares) give(project string, n int64) {
	s.given++
	s.free, s.held[project], s.last[project] = s.free-n, s.held[project]+n, s.given
}
