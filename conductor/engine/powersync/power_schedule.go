package powersync

import (
	"cmp"
	"container/heap"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// schedule decides the next machine to read the power of, and the time. It holds a few words for each node, never the
// node, and nothing that must survive a restart.
type schedule struct {
	mu    sync.Mutex
	turns map[string]*turn   // of every node, by UUID
	well  turnQueue          // waiting for their reading
	weak  turnQueue          // likewise, but the BMC did not answer the last time
	asked map[string][]*turn // by BMC that is being asked: the turns that wait for the end of that
	tried int                // readings of weak BMCs under way
	most  int                // how many of those there may be
	dealt uint32             // turns given out so far
}

// turn is a node's place in the schedule.
type turn struct {
	uuid  string
	bmc   string        // where its BMC is; nodes that share one take turns
	rev   int64         // the revision it was noted with
	every time.Duration // 0: its power is not to be read now
	phase uint32        // which part of every interval is the node's, in 1/2^32
	due   time.Time
	queue *turnQueue // where it waits, nil while it does not
	place int        // in the queue
	busy  bool       // being read
	lost  bool       // in maintenance because its BMC does not answer
	read  time.Time  // the last answered reading, by any caller
	tally plan.PowerTally

	firmware time.Time // when it was asked last how the machine starts
	sensors  time.Time // when the sensors were read last
}

func newSchedule(workers int) *schedule {
	return &schedule{turns: map[string]*turn{}, asked: map[string][]*turn{}, most: max(1, workers/2)}
}

// note notes a node as it was saved; every is the interval of its power readings. It reports whether the next reading
// may be sooner than it was before.
func (s *schedule) note(n node.Node, every time.Duration, now time.Time) (sooner bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.turns[n.UUID]
	if !ok {
		// Multiples of the golden ratio: however many nodes there are, their
		// phases are spread evenly.
		t = &turn{uuid: n.UUID, phase: s.dealt * 2654435769}
		s.dealt++
		s.turns[n.UUID] = t
	}
	if n.Revision < t.rev {
		return false // a later save was noted first
	}
	bmc, lost := cmp.Or(strings.Join(n.BMCAddresses(), " "), n.UUID), n.Fault == plan.PowerFailure
	moved := t.bmc != bmc
	if moved || n.Run != nil || t.lost && !lost {
		t.tally = plan.PowerTally{} // the old count no longer applies
	}
	t.rev, t.bmc, t.lost = n.Revision, bmc, lost
	if moved || t.every != every {
		t.every = every
		s.put(t, t.next(now))
	}
	return t.first()
}

// next is the first moment after now that is the node's.
func (t *turn) next(now time.Time) time.Time {
	if t.every == 0 {
		return time.Time{}
	}
	phase := time.Duration(float64(t.every) * (float64(t.phase) / (1 << 32)))
	at := now.Truncate(t.every).Add(phase)
	if !at.After(now) {
		at = at.Add(t.every)
	}
	return at
}

// put brings a turn to its place in the queues, or takes it out when it is not
// to be read or being read.
func (s *schedule) put(t *turn, due time.Time) {
	if t.queue != nil {
		heap.Remove(t.queue, t.place)
		t.queue = nil
	}
	t.due = due
	if t.every == 0 || t.busy {
		return
	}
	if t.queue = &s.well; t.tally.Failures > 0 {
		t.queue = &s.weak
	}
	heap.Push(t.queue, t)
}

// first reports whether a turn is the next of its queue.
func (t *turn) first() bool { return t.queue != nil && t.place == 0 }

// reading is one turn taken.
type reading struct {
	uuid  string
	bmc   string
	weak  bool
	late  time.Duration
	every time.Duration
}

// take returns the turns that are due, at most limit. If none is due, it returns the time until one may be. Weak BMCs
// get no more than their share of the readings at a time: otherwise the others would wait for them.
func (s *schedule) take(now time.Time, limit int) (due []reading, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait = time.Hour // the first that is noted wakes the reader
	for _, q := range []*turnQueue{&s.well, &s.weak} {
		for len(*q) > 0 && len(due) < limit && (q == &s.well || s.tried < s.most) {
			t := (*q)[0]
			if early := t.due.Sub(now); early > 0 {
				wait = min(wait, early)
				break
			}
			if waiting, busy := s.asked[t.bmc]; busy {
				s.asked[t.bmc] = append(waiting, t)
				heap.Pop(q)
				t.queue = nil
				continue
			}
			due = append(due, s.begin(t, now))
		}
	}
	return due, wait
}

func (s *schedule) begin(t *turn, now time.Time) reading {
	r := reading{t.uuid, t.bmc, t.tally.Failures > 0, now.Sub(t.due), t.every}
	t.busy = true
	s.put(t, t.due)
	s.asked[r.bmc] = nil
	if r.weak {
		s.tried++
	}
	return r
}

// count takes an answer, or its absence, into the node's tally.
func (s *schedule) count(n node.Node, found node.Vitals, failure string, now time.Time) plan.PowerRead {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.turns[n.UUID]
	if !ok { // deleted meanwhile: the tally is not needed
		t = &turn{}
	}
	return t.tally.Count(n, found, failure, now)
}

// After failures in a row a BMC is asked ever less often, down to this.
const leastOften = 5 * time.Minute

// confirmAfter is when a reading that differs from the record is made again.
const confirmAfter = 5 * time.Second

// done ends a turn: the node gets its next turn, and the nodes that waited for this BMC get theirs. It reports whether
// the next reading may be sooner than it was before.
func (s *schedule) done(r reading, now time.Time) (sooner bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.asked[r.bmc]
	delete(s.asked, r.bmc)
	for _, t := range waiting {
		if s.turns[t.uuid] == t && t.queue == nil { // it was not noted anew meanwhile
			s.put(t, t.due)
		}
	}
	if r.weak {
		s.tried--
	}
	if t, ok := s.turns[r.uuid]; ok && t.busy {
		t.busy = false
		s.put(t, t.after(now))
		sooner = t.first()
	}
	return sooner || r.weak || len(waiting) > 0
}

// after is when a node that has been read is read again.
func (t *turn) after(now time.Time) time.Time {
	switch {
	case t.tally.Unsure():
		return now.Add(min(confirmAfter, t.every))
	case t.tally.Failures > 1:
		pause := min(t.every<<min(t.tally.Failures-1, 10), max(t.every, leastOften))
		return t.next(now.Add(pause - t.every))
	}
	return t.next(now)
}

// seen notes a successful reading of a machine's power.
func (s *schedule) seen(uuid string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.turns[uuid]; ok {
		t.read = now
	}
}

// lastRead is when a machine's power was read well; zero when it was not since
// this conductor started.
func (s *schedule) lastRead(uuid string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.turns[uuid]; ok {
		return t.read
	}
	return time.Time{}
}

// firmwareDue reports whether a node's firmware settings are due to be read. If so, it counts them as read.
func (s *schedule) firmwareDue(uuid string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.turns[uuid]
	if !ok || now.Sub(t.firmware).Abs() < firmwareEvery {
		return false
	}
	t.firmware = now
	return true
}

func (s *schedule) forget(uuid string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.turns[uuid]; ok {
		t.every = 0
		s.put(t, time.Time{})
		delete(s.turns, uuid)
	}
}

// turnQueue is a heap of turns by when they are due.
type turnQueue []*turn

func (q turnQueue) Len() int           { return len(q) }
func (q turnQueue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }

func (q turnQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push is for package heap.
func (q *turnQueue) Push(x any) {
	t := x.(*turn)
	t.place = len(*q)
	*q = append(*q, t)
}

// Pop is for package heap.
func (q *turnQueue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return t
}
