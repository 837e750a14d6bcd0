package lanes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }

// taken takes all work that is available, and names the nodes.
func taken(l *Lanes, now time.Time) (nodes []string, turns []*Turn) {
	for {
		t, ok := l.Take(now)
		if !ok {
			return nodes, turns
		}
		nodes, turns = append(nodes, t.Node), append(turns, t)
	}
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		work []Work
		want string
	}{
		{"by time", []Work{{Node: "b", Due: at(2)}, {Node: "a", Due: at(1)}, {Node: "c", Due: at(3)}}, "a b c"},
		{"not before it is due", []Work{{Node: "a", Due: at(99)}, {Node: "b", Due: at(1)}}, "b"},
		{"by project", []Work{
			{Node: "a1", Project: "a"}, {Node: "a2", Project: "a"}, {Node: "a3", Project: "a"},
			{Node: "b1", Project: "b", Due: at(1)}, {Node: "c1", Project: "c", Due: at(2)},
		}, "a1 b1 c1 a2 a3"},
		{"by kind", []Work{
			{Node: "v1", Kind: "verify"}, {Node: "v2", Kind: "verify"}, {Node: "v3", Kind: "verify"},
			{Node: "p1", Kind: "power", Due: at(1)}, {Node: "p2", Kind: "power", Due: at(2)},
		}, "v1 p1 v2 p2 v3"},
		{"by peer", []Work{
			{Node: "x1", Peer: "x", Proven: true}, {Node: "x2", Peer: "x", Proven: true}, {Node: "x3", Peer: "x", Proven: true},
			{Node: "y1", Peer: "y", Proven: true, Due: at(1)},
		}, "x1 y1 x2 x3"},
		{"a project's turn does not depend on how many peers it has", []Work{
			{Node: "a1", Project: "a", Peer: "1", Proven: true}, {Node: "a2", Project: "a", Peer: "2", Proven: true},
			{Node: "a3", Project: "a", Peer: "3", Proven: true}, {Node: "b1", Project: "b", Peer: "4", Proven: true},
			{Node: "b2", Project: "b", Peer: "4", Proven: true},
		}, "a1 b1 a2 b2 a3"},
		{"one of each node", []Work{{Node: "a", Kind: "old"}, {Node: "a", Kind: "new"}}, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := New(64)
			for _, w := range c.work {
				l.Put(w)
			}
			if nodes, _ := taken(l, at(10)); strings.Join(nodes, " ") != c.want {
				t.Errorf("got %v, want %s", nodes, c.want)
			}
		})
	}
}

func TestWorkers(t *testing.T) {
	l := New(2)
	for i := range 5 {
		l.Put(Work{Node: fmt.Sprint("prompt", i), Peer: fmt.Sprint("p", i), Proven: true})
		l.Put(Work{Node: fmt.Sprint("new", i), Peer: fmt.Sprint("n", i)})
	}
	l.Graded("ill", Silent, at(0))
	l.Put(Work{Node: "silent", Peer: "ill", Proven: true})
	nodes, turns := taken(l, at(0))
	if got := strings.Join(nodes, " "); got != "prompt0 prompt1 new0 new1 silent" {
		t.Fatal("got", got)
	}
	turns[0].Leave()
	turns[0].Leave() // twice is once
	if nodes, _ := taken(l, at(0)); !slices.Equal(nodes, []string{"prompt2"}) {
		t.Errorf("after one left: %v", nodes)
	}
	turns[0].End(at(1), false)
	if nodes, _ := taken(l, at(0)); nodes != nil {
		t.Errorf("the end of work that had left freed a worker for %v", nodes)
	}
}

func TestGrades(t *testing.T) {
	for _, c := range []struct {
		name   string
		proven bool
		before Grade // -1: not called before
		work   func(*Turn)
		want   Grade
	}{
		{"answers at once", false, -1, func(t *Turn) { t.End(at(1), false) }, Prompt},
		{"lingers", true, -1, func(t *Turn) { t.Linger(at(2)) }, Slow},
		{"lingers, then answers", false, -1, func(t *Turn) { t.Linger(at(2)); t.End(at(5), false) }, Slow},
		{"lingers, then times out", true, -1, func(t *Turn) { t.Linger(at(2)); t.End(at(12), true) }, Silent},
		{"silent, then answers late", true, Silent, func(t *Turn) { t.Linger(at(2)); t.End(at(5), false) }, Slow},
		{"silent, then answers at once", true, Silent, func(t *Turn) { t.End(at(1), false) }, Prompt},
		{"slow, then answers at once", true, Slow, func(t *Turn) { t.End(at(1), false) }, Prompt},
		{"slow, and stays so", true, Slow, func(t *Turn) { t.Linger(at(2)); t.End(at(5), false) }, Slow},
		{"prompt, then waits for a machine", true, Prompt, func(t *Turn) { t.Leave(); t.End(at(600), false) }, Prompt},
		{"new, then waits for a machine", false, -1, func(t *Turn) { t.Leave(); t.End(at(600), false) }, Prompt},
		{"waits for a machine, and falls silent", true, Prompt, func(t *Turn) { t.Leave(); t.End(at(600), true) }, Silent},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := New(1)
			if c.before >= 0 {
				l.Graded("bmc", c.before, at(-1))
			}
			l.Put(Work{Node: "n", Peer: "bmc", Proven: c.proven})
			turn, ok := l.Take(at(0))
			if !ok {
				t.Fatal("no turn")
			}
			c.work(turn)
			if g, _ := l.GradeOf("bmc"); g != c.want {
				t.Errorf("got %s, want %s", g, c.want)
			}
		})
	}
}

// TestRegraded moves work that waits to the lane of its peer's new grade.
func TestRegraded(t *testing.T) {
	l := New(1)
	l.Put(Work{Node: "holds the worker", Proven: true})
	l.Put(Work{Node: "n1", Peer: "bmc", Kind: "a", Proven: true})
	l.Put(Work{Node: "n2", Peer: "bmc", Kind: "b", Proven: true})
	if nodes, _ := taken(l, at(0)); len(nodes) != 1 {
		t.Fatal(nodes)
	}
	l.Graded("bmc", Silent, at(0))
	nodes, turns := taken(l, at(0))
	if len(nodes) != 1 || turns[0].grade != Silent {
		t.Fatalf("%v is done, in %v", nodes, turns)
	}
	if l.Len() != 1 || len(l.lanes[Prompt].turns.order) != 0 {
		t.Errorf("%d wait, %d in the lane they left", l.Len(), len(l.lanes[Prompt].turns.order))
	}
}

// TestOverflow bounds the work that goes on without a worker.
func TestOverflow(t *testing.T) {
	l := New(1)
	var turns []*Turn
	for i := range overflow + 1 {
		l.Put(Work{Node: fmt.Sprint(i), Peer: fmt.Sprint(i), Proven: true})
		turn, ok := l.Take(at(0))
		if !ok {
			t.Fatal("no turn", i)
		}
		if free := turn.Linger(at(2)); free != (i < overflow) {
			t.Fatalf("work %d lingers: worker free is %t", i, free)
		}
		turns = append(turns, turn)
	}
	for _, turn := range turns {
		turn.End(at(3), true)
	}
	if l.without != 0 || l.Busy(Prompt) != 0 {
		t.Errorf("at the end %d go on without a worker, %d with one", l.without, l.Busy(Prompt))
	}
}

func TestHurryAndDrop(t *testing.T) {
	l := New(9)
	l.Put(Work{Node: "a", Peer: "x", Due: at(100)})
	l.Put(Work{Node: "b", Peer: "x", Due: at(50)})
	l.Put(Work{Node: "c", Peer: "x"})
	if due, ok := l.NextDue(); !ok || !due.IsZero() {
		t.Errorf("next due at %v, %t", due, ok)
	}
	l.Drop("c")
	l.Drop("c")
	if due, _ := l.NextDue(); due != at(50) {
		t.Errorf("next due at %v", due)
	}
	l.Hurry("a")
	l.Hurry("none")
	if nodes, _ := taken(l, at(0)); !slices.Equal(nodes, []string{"a"}) {
		t.Errorf("got %v", nodes)
	}
	l.Drop("b")
	l.Sweep(at(9999))
	if l.Len() != 0 || len(l.peers) != 0 {
		t.Errorf("%d wait, %d peers are remembered", l.Len(), len(l.peers))
	}
}

// TestNeighbours counts turns on a clock of its own: 2,000 ill BMCs beside 100 healthy ones. Each healthy machine needs
// ten effects one after the other. Ill BMCs were never seen before, answer after five seconds, or not at all.
func TestNeighbours(t *testing.T) {
	const healthy, effects = 100, 10
	alone := simulate(t, healthy, effects, 0)
	beside := simulate(t, healthy, effects, 2000)
	t.Logf("healthy machines done after %s alone, %s beside 2,000 ill BMCs", alone, beside)
	if beside > 2*alone {
		t.Errorf("healthy machines took %s beside ill BMCs, %s alone: more than twice as long", beside, alone)
	}
}

// simulate returns when the last healthy machine was done.
func simulate(t *testing.T, healthy, effects, ill int) time.Duration {
	t.Helper()
	l := New(64)
	for i := range ill {
		l.Put(Work{Node: fmt.Sprint("ill", i), Kind: "power", Peer: fmt.Sprint("ill", i)})
	}
	for i := range healthy {
		l.Put(Work{Node: fmt.Sprint("well", i), Kind: "power", Peer: fmt.Sprint("well", i), Proven: true})
	}
	type running struct {
		turn *Turn
		end  time.Time
	}
	var under []running
	left := map[string]int{}
	var last time.Time
	for now := start; now.Before(at(600)); now = now.Add(100 * time.Millisecond) {
		under = slices.DeleteFunc(under, func(r running) bool {
			if now.Sub(r.turn.began) == Patience {
				r.turn.Linger(now)
			}
			if now.Before(r.end) {
				return false
			}
			w := r.turn.Work
			isIll := strings.HasPrefix(w.Node, "ill")
			r.turn.End(now, isIll && len(w.Node)%2 == 0)
			if left[w.Node]++; isIll {
				w.Due = now.Add(2 * time.Second) // tried again
				l.Put(w)
			} else if last = now; left[w.Node] < effects {
				l.Put(w)
			}
			return true
		})
		for {
			turn, ok := l.Take(now)
			if !ok {
				break
			}
			takes := 200 * time.Millisecond
			if strings.HasPrefix(turn.Node, "ill") {
				takes = map[bool]time.Duration{true: 12 * time.Second, false: 5 * time.Second}[len(turn.Node)%2 == 0]
			}
			under = append(under, running{turn, now.Add(takes)})
		}
		if len(under) > 64*(int(grades)+overflow) {
			t.Fatalf("%d effects at a time", len(under))
		}
	}
	for i := range healthy {
		if n := left[fmt.Sprint("well", i)]; n != effects {
			t.Errorf("machine %d did %d of %d effects", i, n, effects)
		}
	}
	return last.Sub(start)
}

// TestNothingIsLost puts, takes, ends, grades and drops at random, and compares with a plain list.
func TestNothingIsLost(t *testing.T) {
	for seed := range uint64(15) {
		rng := rand.New(rand.NewPCG(seed, 7))
		l, want, under := New(3), map[string]bool{}, []*Turn{}
		now := start
		for range 2000 {
			now = now.Add(time.Duration(rng.IntN(1000)) * time.Millisecond)
			n := fmt.Sprint(rng.IntN(20))
			w := Work{Node: n, Due: now.Add(time.Duration(rng.IntN(9)-4) * time.Second), Project: fmt.Sprint(rng.IntN(3)),
				Kind: fmt.Sprint(rng.IntN(2)), Peer: []string{"", "x", "y", "z"}[rng.IntN(4)], Proven: rng.IntN(2) == 0}
			switch rng.IntN(7) {
			case 0, 1:
				l.Put(w)
				want[n] = true
			case 2:
				l.Drop(n)
				delete(want, n)
			case 3:
				l.Graded(w.Peer, Grade(rng.IntN(int(grades))), now)
			case 4:
				l.Hurry(n)
			case 5:
				if turn, ok := l.Take(now); ok {
					if !want[turn.Node] || turn.Due.After(now) {
						t.Fatalf("seed %d: took %+v, which is not due", seed, turn.Work)
					}
					delete(want, turn.Node)
					under = append(under, turn)
				}
			case 6:
				if len(under) > 0 {
					i := rng.IntN(len(under))
					[]func(){func() { under[i].Leave() }, func() { under[i].Linger(now) }, func() {
						under[i].End(now, rng.IntN(2) == 0)
						under = slices.Delete(under, i, i+1)
					}}[rng.IntN(3)]()
				}
			}
			for node := range want {
				if !l.Has(node, now.Add(time.Hour)) {
					t.Fatalf("seed %d: the work of node %s is lost", seed, node)
				}
			}
			if l.Len() != len(want) {
				t.Fatalf("seed %d: %d wait, want %d", seed, l.Len(), len(want))
			}
		}
		for _, turn := range under {
			turn.End(now, false)
		}
		for l.Len() > 0 {
			turn, ok := l.Take(now.Add(time.Hour))
			if !ok {
				t.Fatalf("seed %d: %d wait and none has a turn", seed, l.Len())
			}
			turn.End(now, false)
		}
		if l.without != 0 || l.Busy(Prompt)+l.Busy(Unproven)+l.Busy(Slow)+l.Busy(Silent) != 0 {
			t.Fatalf("seed %d: workers are busy at the end", seed)
		}
	}
}

func BenchmarkLanes(b *testing.B) {
	l := New(64)
	for i := range 10_000 {
		l.Put(Work{Node: fmt.Sprint(i), Peer: fmt.Sprint(i), Proven: true})
	}
	now := start
	for b.Loop() {
		turn, ok := l.Take(now)
		if !ok {
			b.Fatal("nothing to do")
		}
		turn.End(now, false)
		l.Put(turn.Work)
	}
}
