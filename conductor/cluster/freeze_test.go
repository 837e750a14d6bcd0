package cluster

import (
	"context"
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/store"
)

var (
	freezeSeed = flag.Uint64("freeze.seed", 0, "the seed of one run of freezes; 0 for some runs")
	freezeRuns = flag.Int("freeze.runs", 12, "how many runs of freezes")
)

// slow are rows with slow questions and answers, which take for ever while their member is frozen. A question may be
// carried out and its answer come too late.
type slow struct {
	rowsOf
	gate *network
}

// network is the way of all members to the database.
type network struct {
	mu      sync.Mutex
	random  *rand.Rand
	frozen  map[string]chan struct{} // closed when the member goes on
	slowest time.Duration
}

// way takes the time of a question, or of an answer.
func (s slow) way() {
	s.gate.mu.Lock()
	took := time.Duration(s.gate.random.Int64N(int64(s.gate.slowest)))
	s.gate.mu.Unlock()
	time.Sleep(took)
	s.gate.mu.Lock()
	thaw := s.gate.frozen[s.name]
	s.gate.mu.Unlock()
	if thaw != nil {
		<-thaw
	}
}

// asked carries a question out, and has its answer come too late where it does.
func asked[T any](ctx context.Context, s slow, question func() (T, error)) (answer T, err error) {
	s.way()
	answer, err = question()
	s.way()
	if ctx.Err() != nil {
		return answer, ctx.Err()
	}
	return answer, err
}

func (s slow) Beat(ctx context.Context, m store.Member) (bool, error) {
	return asked(ctx, s, func() (bool, error) { return s.rowsOf.Beat(ctx, m) })
}

func (s slow) Look(ctx context.Context) (members []store.Member, leaders []store.Leader, err error) {
	members, err = asked(ctx, s, func() (found []store.Member, err error) {
		found, leaders, err = s.rowsOf.Look(ctx)
		return found, err
	})
	return members, leaders, err
}

func (s slow) Take(ctx context.Context, group, member string, hold time.Duration) (epoch int64, ok bool, err error) {
	epoch, err = asked(ctx, s, func() (taken int64, err error) {
		taken, ok, err = s.rowsOf.Take(ctx, group, member, hold)
		return taken, err
	})
	return epoch, ok, err
}

func (s slow) Renew(ctx context.Context, group string, epoch int64, hold time.Duration) error {
	_, err := asked(ctx, s, func() (any, error) { return nil, s.rowsOf.Renew(ctx, group, epoch, hold) })
	return err
}

func (s slow) Release(ctx context.Context, group string, epoch int64) error {
	_, err := asked(ctx, s, func() (any, error) { return nil, s.rowsOf.Release(ctx, group, epoch) })
	return err
}

// freeze freezes a member until thaw is called.
func (n *network) freeze(name string) (thaw func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.frozen[name] = make(chan struct{})
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		close(n.frozen[name])
		delete(n.frozen, name)
	}
}

// takeoverTime is how long a group may have no leader: a leadership and slow questions; the rest of 10 s is for the
// nodes. A leader that is about to lose the group again does not count: steady is how long one must lead, and look is
// between two looks.
const (
	takeoverTime = 7400 * time.Millisecond
	steady       = time.Second
	look         = 10 * time.Millisecond
)

// TestFreezes: the leader is frozen at any moment, for any time, on a slow network. A group never has two leaders, and
// a member that is not frozen leads again within the time for that.
func TestFreezes(t *testing.T) {
	for run := range *freezeRuns {
		seed := *freezeSeed
		if seed == 0 {
			seed = rand.Uint64() //nolint:gosec // chance is no secret
		}
		synctest.Test(t, func(t *testing.T) {
			t.Logf("run %d: -freeze.seed %d", run, seed)
			freezes(t, rand.New(rand.NewPCG(seed, 0)), 60) //nolint:gosec // chance is no secret
		})
		if *freezeSeed != 0 || t.Failed() {
			return
		}
	}
}

func freezes(t *testing.T, random *rand.Rand, times int) {
	r, l := newRows(), &led{t: t, now: map[string]string{}}
	n := &network{random: random, frozen: map[string]chan struct{}{}, slowest: 300 * time.Millisecond}
	var stops []func()
	for _, name := range []string{"a", "b", "c"} {
		stops = append(stops, joinBy(t, slow{rowsOf{r, name}, n}, l, name, ""))
	}
	chance := func(most time.Duration) time.Duration {
		n.mu.Lock()
		defer n.mu.Unlock()
		return time.Duration(random.Int64N(int64(most)))
	}
	var worst time.Duration
	for range times {
		for l.leader("") == "" {
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(chance(4 * time.Second))
		victim := l.leader("")
		if victim == "" { // on a slow network it may be lost
			continue
		}
		thaw, lasts, began := n.freeze(victim), chance(12*time.Second), time.Now()
		thawed, led := false, time.Duration(0)
		for led < steady {
			time.Sleep(look)
			if !thawed && time.Since(began) >= lasts {
				thaw()
				thawed = true
			}
			led += look
			if now := l.leader(""); now == "" || now == victim && !thawed {
				led = 0
			}
			if time.Since(began) > time.Minute {
				t.Fatalf("%s was frozen for %s: nobody leads", victim, lasts)
			}
		}
		took := time.Since(began) - steady
		if worst = max(worst, took); took > takeoverTime {
			t.Errorf("%s was frozen for %s: nobody led for %s", victim, lasts, took)
		}
		if !thawed {
			time.Sleep(lasts - time.Since(began))
			thaw()
		}
	}
	t.Logf("nobody led for %s at most", worst)
	for _, stop := range stops {
		stop()
	}
	time.Sleep(2 * n.slowest) // for the answer to a renewal
}
