package enginetest

import (
	"context"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// Ledger sees the writes of all conductors of a world, and checks the invariants that hold in any circumstances:
//   - an effect is finished once, by the conductor that holds it, and is never lost on the way; only a soft power-off
//     may be overtaken by any conductor;
//   - a node at rest has no pending effect but a chore; an aborted one may have the answer of its driver or agent
//     pending;
//   - a working node has a pending effect, and a waiting one has something that ends its wait;
//   - exactly the nodes that owe a chore have it on record;
//   - an effect is not tried, nor a run asked after, for ever;
//   - no working or waiting state lasts for ever.
type Ledger struct {
	t *testing.T

	mu         chan struct{} // full while it is locked: time passes for waiters, as a Mutex does not let it
	held       map[int64]*heldEffect
	runs       map[run]int // effects each run has owed
	moved      map[string]move
	disturbed  time.Time     // when a conductor was started or a clock was set last
	disturbing int           // how often that was
	setBack    time.Duration // by how much clocks were set back in all
	failing    bool          // the store fails: unsaved writes are tried until they succeed
	Most       Maxima
}

// Maxima is how near to the bounds a world came.
type Maxima struct {
	Tries, Effects int
	Lasted         time.Duration
}

// With returns the larger of each value.
func (m Maxima) With(o Maxima) Maxima {
	return Maxima{max(m.Tries, o.Tries), max(m.Effects, o.Effects), max(m.Lasted, o.Lasted)}
}

// heldEffect is a pending effect, and the conductor that works on it.
type heldEffect struct {
	effect node.Effect
	holder *Mortal
	since  int // disturbances before it
}

// move is when a node came to the state it is in, and how far clocks had been
// set back by then.
type move struct {
	at      time.Time
	setBack time.Duration
}

type run struct {
	node       string
	generation int64
}

// The bounds, without the allowance for the disturbances of a world.
const (
	mostTries   = 12 // three times the engine's retries: agent.poll, driver.execute_step
	mostEffects = 200
	longestWait = 45 * time.Minute // half an hour's silence, and the tries of an effect
)

func newLedger(t *testing.T) *Ledger {
	return &Ledger{
		t: t, mu: make(chan struct{}, 1), held: map[int64]*heldEffect{}, runs: map[run]int{}, moved: map[string]move{},
	}
}

// lock begins a write of a conductor, once it is not frozen.
func (l *Ledger) lock(m *Mortal) {
	for {
		m.wait()
		l.mu <- struct{}{}
		if !m.frozen() {
			return
		}
		l.unlock()
	}
}

func (l *Ledger) unlock() { <-l.mu }

func (l *Ledger) commit(m *Mortal, c node.Change) (node.Node, error) {
	l.lock(m)
	defer l.unlock()
	n, err := m.Store.Commit(context.Background(), c)
	if err != nil {
		return n, err
	}
	l.finish(m, c.Finish)
	if n.UUID != "" {
		if len(c.Moves) > 0 || c.Insert != nil {
			l.moved[n.UUID] = move{time.Now(), l.setBack}
		}
		l.check(n, l.pending(m, n))
	}
	return n, nil
}

// finish takes an effect off the books.
func (l *Ledger) finish(m *Mortal, e *node.Effect) {
	if e == nil {
		return
	}
	switch d := l.held[e.ID]; {
	case d == nil:
		l.t.Errorf("effect %d (%s of node %s) is finished, and is not owed", e.ID, e.Name, e.Node)
	case d.holder != m && e.Name != plan.ShutDown: // which others may overtake
		l.t.Errorf("effect %d (%s of node %s) is finished by a conductor that does not hold it", e.ID, e.Name, e.Node)
	}
	delete(l.held, e.ID)
}

// pending notes the effect a node owes now, and an effect that it no longer owes without having finished it.
func (l *Ledger) pending(m *Mortal, n node.Node) *node.Effect {
	e, err := m.PendingEffect(context.Background(), n.UUID)
	if err != nil {
		l.t.Error(err)
	}
	for id, d := range l.held {
		if d.effect.Node == n.UUID && (e == nil || e.ID != id) {
			l.t.Errorf("effect %d (%s of node %s) is lost", id, d.effect.Name, n.UUID)
			delete(l.held, id)
		}
	}
	if e == nil || l.held[e.ID] != nil {
		return e
	}
	l.held[e.ID] = &heldEffect{effect: *e, since: l.disturbing}
	if e.Name == n.Chore {
		return e // it belongs to no run, even where one is waiting
	}
	r := run{n.UUID, e.Generation}
	l.runs[r]++
	l.Most.Effects = max(l.Most.Effects, l.runs[r])
	if l.runs[r] > mostEffects {
		l.t.Errorf("node %s in %q: run %+v has owed %d effects", n.UUID, n.ProvisionState, n.Run, l.runs[r])
	}
	return e
}

// check checks the invariants of a node between any two writes.
func (l *Ledger) check(n node.Node, e *node.Effect) {
	if n.Chore != "" && (e == nil || e.Name != n.Chore) {
		l.t.Errorf("node %s has the chore %q on record, and owes %+v", n.UUID, n.Chore, e)
	}
	forParent := n.Run != nil && n.Run.Activity == "child"
	if forParent {
		return // its state belongs to its own life
	}
	wrong := ""
	switch n.ProvisionState.Class() {
	case node.Stable, node.Failed:
		switch {
		case n.Run != nil || !n.Deadline.IsZero() && !KeepsAgent[n.ProvisionState]:
			wrong = "rests, with a run or a deadline"
		case e != nil && (e.Name == "driver.execute_step" || e.Name == "agent.poll") &&
			n.ProvisionState.Class() == node.Failed:
			// Driver or agent were being asked when their run was aborted; the answer is dropped.
		case e != nil && e.Name != n.Chore:
			wrong = "rests, with an effect in flight"
		}
	case node.Working:
		if e == nil {
			wrong = "works, and owes nothing"
		}
	case node.Waiting:
		if n.Deadline.IsZero() { // even with a pending effect: that may never be carried out
			wrong = "waits, and nothing ends it"
		}
	case node.Held:
		if n.Run == nil || !n.Deadline.IsZero() {
			wrong = "is held, without a run or with a deadline"
		}
	}
	if wrong != "" {
		l.t.Errorf("node %s in %q %s: run %+v, owes %+v, deadline %s", n.UUID, n.ProvisionState, wrong, n.Run, e, n.Deadline)
	}
}

// KeepsAgent are the states at rest in which the machine of a kept agent has a time at
// which it is switched off.
var KeepsAgent = map[node.State]bool{node.Enroll: true, node.Manageable: true, node.Available: true}

func (l *Ledger) claim(m *Mortal, owner string, now time.Time, lease time.Duration,
	nodes []string) ([]node.Effect, error) {
	l.lock(m)
	defer l.unlock()
	got, err := m.Store.Claim(context.Background(), owner, now, lease, nodes)
	for _, e := range got {
		d := l.held[e.ID]
		if d == nil {
			l.t.Errorf("effect %d (%s of node %s) is claimed, and nobody has seen it owed", e.ID, e.Name, e.Node)
			continue
		}
		d.holder = m
		tries := e.Attempt - (l.disturbing - d.since)
		l.Most.Tries = max(l.Most.Tries, tries)
		if tries > mostTries && !l.failing {
			l.t.Errorf("effect %d (%s of node %s) is tried for the %d. time", e.ID, e.Name, e.Node, e.Attempt)
		}
	}
	return got, err
}

// release notes that an effect, or every effect of its owner, is no longer held.
func (l *Ledger) release(m *Mortal, match func(*heldEffect) bool, write func() error) error {
	l.lock(m)
	defer l.unlock()
	err := write()
	if err == nil {
		for _, d := range l.held {
			if match(d) {
				d.holder = nil
			}
		}
	}
	return err
}

// Disturb notes that a conductor was started or its clock was set: work under way may begin again.
func (l *Ledger) Disturb(clock time.Duration) {
	l.mu <- struct{}{}
	defer l.unlock()
	l.disturbed = time.Now()
	l.disturbing++
	l.setBack += max(0, -clock)
}

// Overdue complains about a node that works or waits for too long.
func (l *Ledger) Overdue(n node.Node) {
	if c := n.ProvisionState.Class(); c != node.Working && c != node.Waiting {
		return
	}
	l.mu <- struct{}{}
	defer l.unlock()
	came := l.moved[n.UUID]
	since := came.at
	if l.disturbed.After(since) {
		since = l.disturbed
	}
	lasted := time.Since(since) - (l.setBack - came.setBack) // a deadline moves away with every clock set back
	l.Most.Lasted = max(l.Most.Lasted, lasted)
	if lasted > longestWait {
		l.t.Errorf("node %s is %q for %s: run %+v, deadline %s", n.UUID, n.ProvisionState, time.Since(came.at),
			n.Run, n.Deadline)
	}
}

// Balance complains about effects that are still pending once all nodes are at rest.
func (l *Ledger) Balance() {
	l.mu <- struct{}{}
	defer l.unlock()
	for id, d := range l.held {
		l.t.Errorf("effect %d (%s of node %s) is pending still", id, d.effect.Name, d.effect.Node)
	}
}
