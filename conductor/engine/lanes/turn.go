package lanes

import "time"

// Turn is work that is being done.
type Turn struct {
	Work
	lanes    *Lanes
	grade    Grade // the lane that its worker belongs to
	began    time.Time
	worker   bool // it holds a worker
	overtime bool // it goes on without one, since it took too long
}

// Leave gives the worker back while the work goes on: from now on it only waits.
func (t *Turn) Leave() {
	if t.worker {
		t.worker = false
		t.lanes.lanes[t.grade].busy--
	}
}

// Linger is called when the work has taken Patience. It frees the worker of a prompt or unproven peer, and grades the
// peer as slow. Slow and silent peers keep their workers, because they delay only other such peers. It reports whether
// a worker became free.
func (t *Turn) Linger(now time.Time) bool {
	if !t.worker {
		return false
	}
	t.lanes.Graded(t.Peer, max(Slow, t.current()), now)
	if t.grade > Unproven || t.lanes.without >= overflow*t.lanes.workers {
		return false
	}
	t.Leave()
	t.overtime = true
	t.lanes.without++
	return true
}

// current is the grade of the turn's peer.
func (t *Turn) current() Grade {
	g, _ := t.lanes.GradeOf(t.Peer)
	return g
}

// End ends the turn; silent says that a call to the peer timed out.
func (t *Turn) End(now time.Time, silent bool) {
	held := t.worker
	t.Leave()
	if t.overtime {
		t.overtime = false
		t.lanes.without--
	}
	switch {
	case silent:
		t.lanes.Graded(t.Peer, Silent, now)
	case held && now.Sub(t.began) <= Patience:
		t.lanes.Graded(t.Peer, Prompt, now)
	default:
		t.lanes.answered(t.Peer, now)
	}
}

// Cancel ends a turn before its work has begun.
func (t *Turn) Cancel() { t.Leave() }
