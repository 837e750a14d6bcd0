package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// TestLaggingStandby: the connection to the database suddenly leads to a standby that lags. It answers no read, because
// acknowledged writes would be missing.
func TestLaggingStandby(t *testing.T) {
	first := postgrestest.New(t)
	address, c := first.URL(t), &cutter{}
	near := c.listen(t, address)
	second := first.Standby(t, false)
	s := openPostgres(t, near, store.PostgresOptions{Patience: 50 * time.Millisecond})
	n, err := s.Commit(t.Context(), node.Change{Insert: &node.Node{UUID: uuidN(1), Name: "old"}})
	if err != nil {
		t.Fatal(err)
	}
	first.AwaitStandby(t)
	second.StopFollowing(t)
	n.Name = "new"
	if _, err := s.Commit(t.Context(), node.Change{Save: &n}); err != nil {
		t.Fatal(err)
	}
	standby := c.socket(t, second.Of(t, address))
	c.move(func() string { return standby })
	first.Run(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'ferrite%'")
	for range 3 {
		all, err := s.Nodes(t.Context(), node.Query{})
		if err == nil && (len(all) != 1 || all[0].Name != "new") {
			t.Fatalf("a read is answered by a standby that lags: %d nodes, the name is not new", len(all))
		}
	}
	primary := c.socket(t, address)
	c.move(func() string { return primary })
	awaitReady(t, s)
	if all, err := s.Nodes(t.Context(), node.Query{}); err != nil || len(all) != 1 || all[0].Name != "new" {
		t.Errorf("%d nodes, %v", len(all), err)
	}
}

// ledger notes the answers to workers: effects that they were given, and writes that were acknowledged.
type ledger struct {
	mu    sync.Mutex
	given map[string]int // by node and name
	acked map[string]int // by node, the effects that are done
}

// TestLateAnswers: the database answers late, or too late, or its answer is cut off, and callers give up. No effect is
// given away twice, no acknowledged write is lost, and none is done twice.
func TestLateAnswers(t *testing.T) {
	var late atomic.Bool
	c := &cutter{}
	c.late = func() (time.Duration, bool) {
		if !late.Load() {
			return 0, false
		}
		switch rand.IntN(100) {
		case 0:
			return 300 * time.Millisecond, false
		case 1:
			return time.Millisecond, true
		case 2:
			c.before.Store(true) // the next COMMIT does not reach the server
		}
		return rand.N(4 * time.Millisecond), false
	}
	s := openPostgres(t, c.listen(t, postgrestest.URL(t)), store.PostgresOptions{Patience: 200 * time.Millisecond})
	late.Store(true)
	l := &ledger{given: map[string]int{}, acked: map[string]int{}}
	const nodes, lasts = 24, time.Second
	var all []string
	for i := range nodes {
		n := node.Node{UUID: uuidN(i), Name: "n0-" + fmt.Sprint(i)}
		insist(t, s, node.Change{Insert: &n, Effects: []node.Effect{{Node: n.UUID, Name: "0"}}})
		all = append(all, n.UUID)
	}
	var workers sync.WaitGroup
	end := time.Now().Add(lasts)
	for w := range 4 {
		workers.Go(func() {
			for time.Now().Before(end) {
				ctx, giveUp := context.WithTimeout(t.Context(), rand.N(400*time.Millisecond))
				got, err := s.Claim(ctx, fmt.Sprint("worker", w), time.Now(), time.Hour, all[6*w:])
				if err == nil {
					for _, e := range got {
						l.done(t, s, e)
					}
				}
				giveUp()
			}
		})
	}
	workers.Wait()
	done := 0
	for _, uuid := range all {
		n, err := patientNode(t, s, uuid)
		if err != nil {
			t.Fatal(err)
		}
		count, _ := progress(t, n)
		if acked := l.acked[uuid]; count < acked || count > acked+1 {
			t.Errorf("node %s: %d effects are done, %d were acknowledged", uuid, count, acked)
		}
		done += count
	}
	if done < nodes {
		t.Errorf("%d effects were done, expected one of each node at least", done)
	}
	t.Logf("%d effects of %d nodes are done, %d were given", done, nodes, len(l.given))
}

// done does an effect, which is to be given once, and notes the write that is acknowledged. It gives up sometimes, and
// writes again where the effect is not done.
func (l *ledger) done(t *testing.T, s *store.Database, e node.Effect) {
	l.mu.Lock()
	l.given[e.Node+" "+e.Name]++
	if l.given[e.Node+" "+e.Name] > 1 {
		t.Errorf("effect %s of node %s was given twice, at attempt %d", e.Name, e.Node, e.Attempt)
	}
	l.mu.Unlock()
	for range 20 {
		n, err := patientNode(t, s, e.Node)
		if err != nil {
			return
		}
		count, nth := progress(t, n)
		if fmt.Sprint(count) != e.Name {
			return // it is done, but the answer was lost
		}
		n.Name = fmt.Sprintf("n%d-%d", count+1, nth)
		next := node.Effect{Node: e.Node, Name: fmt.Sprint(count + 1)}
		ctx, giveUp := context.WithTimeout(t.Context(), rand.N(400*time.Millisecond))
		_, err = s.Commit(ctx, node.Change{Save: &n, Finish: &e, Effects: []node.Effect{next}})
		giveUp()
		if err == nil {
			l.mu.Lock()
			l.acked[e.Node] = count + 1
			l.mu.Unlock()
			return
		}
	}
}

// progress is how many effects of a node are done, as its name has it, and its number.
func progress(t *testing.T, n node.Node) (count, nth int) {
	t.Helper()
	if _, err := fmt.Sscanf(n.Name, "n%d-%d", &count, &nth); err != nil {
		t.Error(err)
	}
	return count, nth
}

// insist commits an insert until it is there.
func insist(t *testing.T, s *store.Database, c node.Change) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		_, err := s.Commit(t.Context(), c)
		if err == nil {
			return
		}
		if _, found := s.Node(t.Context(), c.Insert.UUID); found == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// patientNode reads a node until the database answers.
func patientNode(t *testing.T, s *store.Database, uuid string) (n node.Node, err error) {
	for range 50 {
		n, err = s.Node(t.Context(), uuid)
		if err == nil || errors.Is(err, node.ErrNotFound) {
			return n, err
		}
	}
	return n, err
}
