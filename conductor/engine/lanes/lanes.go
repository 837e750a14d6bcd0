package lanes

import (
	"container/heap"
	"time"
)

// Lanes holds the pending work of a conductor that has not begun. It is not safe for concurrent use.
type Lanes struct {
	workers int // of each lane
	waiting map[string]*entry
	later   byDue // work that is not due yet
	lanes   [grades]lane
	peers   map[string]*peer
	without int    // work that goes on without a worker
	number  uint64 // of the entry put last
}

// lane is work that waits, and how much of its kind is being done.
type lane struct {
	turns turns
	busy  int
}

// entry is where the work of a node waits.
type entry struct {
	Work
	number uint64
	grade  Grade // the lane it waits in
	place  int   // in later; -1 for one in a lane
}

// peer is a BMC or an agent that was called, or that work waits for.
type peer struct {
	grade   Grade
	graded  bool // it was called in the life of this process
	called  time.Time
	waiting map[string]*entry // its work
}

// New makes lanes with so many workers each.
func New(workers int) *Lanes {
	return &Lanes{workers: workers, waiting: map[string]*entry{}, peers: map[string]*peer{}}
}

// Put adds the work of a node, in place of any that waits already.
func (l *Lanes) Put(w Work) {
	l.Drop(w.Node)
	l.number++
	e := &entry{Work: w, number: l.number}
	l.waiting[w.Node] = e
	if w.Peer != "" {
		l.peer(w.Peer).waiting[w.Node] = e
	}
	heap.Push(&l.later, e)
}

// Has reports whether work of a node waits that is due at a time or before.
func (l *Lanes) Has(node string, due time.Time) bool {
	e := l.waiting[node]
	return e != nil && !e.Due.After(due.Add(time.Microsecond)) // the store keeps microseconds
}

// Len is how much work waits.
func (l *Lanes) Len() int { return len(l.waiting) }

// Hurry makes the work of a node due at once.
func (l *Lanes) Hurry(node string) {
	if e := l.waiting[node]; e != nil && e.place >= 0 {
		w := e.Work
		w.Due = time.Time{}
		l.Put(w)
	}
}

// Drop forgets the work of a node.
func (l *Lanes) Drop(node string) {
	e := l.waiting[node]
	if e == nil {
		return
	}
	if e.place >= 0 {
		heap.Remove(&l.later, e.place)
	} else {
		l.lanes[e.grade].turns.drop(e.path(), e)
	}
	l.forget(e)
}

// forget removes an entry that is in no lane any more.
func (l *Lanes) forget(e *entry) {
	delete(l.waiting, e.Node)
	if p := l.peers[e.Peer]; p != nil {
		delete(p.waiting, e.Node)
	}
}

// NextDue returns the time at which the next work becomes due; false when there is none.
func (l *Lanes) NextDue() (time.Time, bool) {
	if len(l.later) == 0 {
		return time.Time{}, false
	}
	return l.later[0].Due, true
}

// Take returns the next work in turn that is due, with a worker of its lane. It returns false if none is due, or if no
// lane with work has a free worker. Turn.End gives the worker back.
func (l *Lanes) Take(now time.Time) (*Turn, bool) {
	for len(l.later) > 0 && !l.later[0].Due.After(now) {
		e := heap.Pop(&l.later).(*entry)
		l.enter(e, l.gradeOf(&e.Work))
	}
	for g := range l.lanes {
		lane := &l.lanes[g]
		if lane.busy >= l.workers {
			continue
		}
		if e := lane.turns.take(); e != nil {
			l.forget(e)
			lane.busy++
			return &Turn{Work: e.Work, lanes: l, grade: Grade(g), began: now, worker: true}, true
		}
	}
	return nil, false
}

// enter lets an entry wait in a lane.
func (l *Lanes) enter(e *entry, g Grade) {
	e.grade, e.place = g, -1
	l.lanes[g].turns.add(e.path(), e)
}

// Busy is how many workers of a lane are at work.
func (l *Lanes) Busy(g Grade) int { return l.lanes[g].busy }

// byDue is a heap of work that is not due yet.
type byDue []*entry

func (b byDue) Len() int           { return len(b) }
func (b byDue) Less(i, j int) bool { return byTime(b[i], b[j]) < 0 }
func (b byDue) Swap(i, j int) {
	b[i], b[j] = b[j], b[i]
	b[i].place, b[j].place = i, j
}

// Push adds an entry; for package heap.
func (b *byDue) Push(e any) {
	e.(*entry).place = len(*b)
	*b = append(*b, e.(*entry))
}

// Pop removes the last entry; for package heap.
func (b *byDue) Pop() any {
	last := (*b)[len(*b)-1]
	*b = (*b)[:len(*b)-1]
	return last
}
