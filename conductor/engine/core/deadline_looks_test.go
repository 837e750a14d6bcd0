package core_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
)

// looking counts how often the deadlines are looked at.
type looking struct {
	core.Store
	looks atomic.Int64
}

func (l *looking) NextDeadline(ctx context.Context) (time.Time, bool, error) {
	l.looks.Add(1)
	return l.Store.NextDeadline(ctx)
}

// TestLooksAtDeadlines: the save of a node with a late deadline causes no look at the deadlines. The save of a node
// with the next deadline does.
func TestLooksAtDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, l := enginetest.New(t, 1), &looking{}
		w.Faults = func(m *enginetest.Mortal) core.Store {
			l.Store = m
			return l
		}
		n := w.Waiting()
		defer w.Close()
		synctest.Wait()
		if n.Deadline.Before(time.Now().Add(2 * time.Minute)) {
			t.Fatalf("the node waits until %s only", n.Deadline)
		}
		before := l.looks.Load()
		for i := range 20 {
			if err := w.E.SetMaintenance(w.Ctx, n.UUID, i%2 == 0, "a save"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if looks := l.looks.Load() - before; looks > 1 {
			t.Errorf("%d looks for 20 saves", looks)
		}
		time.Sleep(time.Until(n.Deadline) + time.Second)
		synctest.Wait()
		if after, err := w.E.Node(w.Ctx, n.UUID); err != nil || !after.Deadline.IsZero() && after.Deadline.Equal(n.Deadline) {
			t.Errorf("the deadline was not taken: %s, %s (%v)", after.ProvisionState, after.Deadline, err)
		}
	})
}
