package reconciler

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// key is a host.
type key struct{ namespace, name string }

func (k key) String() string { return k.namespace + "/" + k.name }

// queue holds the hosts to look at, each once, by its due time. A host is in work only once; events in the meantime
// cause another look afterwards.
//
// Each conductor group has as many places as any other: hosts that wait for the leader of their group do not delay
// hosts of other groups.
type queue struct {
	places  int // hosts of one group that are looked at at a time
	groupOf func(key) string

	mu     sync.Mutex
	items  map[key]*item
	groups map[string]*groupQueue // those with an item
	wake   chan struct{}
	freed  chan struct{} // a place of a group that had none
}

// groupQueue is the hosts of a conductor group.
type groupQueue struct {
	due  dueHeap
	busy int // places in use
}

type item struct {
	key       key
	group     string // the group of the place that it has, or waits for
	due       time.Time
	position  int       // in the heap; -1 while it is being looked at
	requeueAt time.Time // time of the next look, from events in the meantime
	requeued  bool      // requeueAt is set
}

func newQueue(places int, groupOf func(key) string) *queue {
	return &queue{places: places, groupOf: groupOf, items: map[key]*item{}, groups: map[string]*groupQueue{},
		wake: make(chan struct{}, 1), freed: make(chan struct{}, 1)}
}

// add has a host looked at, at this time or before.
func (q *queue) add(k key, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch i, ok := q.items[k]; {
	case !ok:
		i = &item{key: k, due: at}
		q.items[k] = i
		q.wait(i)
	case i.position >= 0: // its group may be another now
		heap.Remove(&q.groups[i.group].due, i.position)
		q.leave(i.group)
		if at.Before(i.due) {
			i.due = at
		}
		q.wait(i)
	case !i.requeued || at.Before(i.requeueAt):
		i.requeueAt, i.requeued = at, true
	}
	q.wakeUp()
}

// wait puts an item among those that wait for a place of its group.
func (q *queue) wait(i *item) {
	i.group = q.groupOf(i.key)
	if q.groups[i.group] == nil {
		q.groups[i.group] = &groupQueue{}
	}
	heap.Push(&q.groups[i.group].due, i)
}

// leave forgets a group without an item.
func (q *queue) leave(group string) {
	if g := q.groups[group]; g.busy == 0 && len(g.due) == 0 {
		delete(q.groups, group)
	}
}

// wakeUp has serve check the due hosts again, and the hosts that wait for capacity.
func (q *queue) wakeUp() { signal(q.wake) }

// signal leaves word that something has happened, unless there is some already.
func signal(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// next takes the first host that is due and has a place, and the group of that place. If there is none, wait is the
// time until the next is due.
func (q *queue) next(now time.Time) (k key, group string, wait time.Duration, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var first *item
	for _, g := range q.groups {
		if g.busy < q.places && len(g.due) > 0 && (first == nil || g.due[0].due.Before(first.due)) {
			first = g.due[0]
		}
	}
	if first == nil {
		return key{}, "", time.Hour, false
	}
	if wait := first.due.Sub(now); wait > 0 {
		return key{}, "", wait, false
	}
	g := q.groups[first.group]
	heap.Pop(&g.due)
	g.busy++
	first.position = -1
	return first.key, first.group, 0, true
}

// done gives a host back, to be looked at again then, or before if something has
// happened to it; never again with the zero time if nothing has.
func (q *queue) done(k key, requeueAt time.Time) {
	q.mu.Lock()
	i := q.items[k]
	delete(q.items, k)
	g := q.groups[i.group]
	if g.busy == q.places { // others may wait for the place
		signal(q.freed)
	}
	g.busy--
	q.leave(i.group)
	q.mu.Unlock()
	if i.requeued {
		q.add(k, i.requeueAt)
	}
	if !requeueAt.IsZero() {
		q.add(k, requeueAt)
	}
}

// serve begins work on due hosts until ctx ends. begin may wait. woken is called after every event that may free
// capacity.
func (q *queue) serve(ctx context.Context, begin func(k key, group string), now func() time.Time, woken func()) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		k, group, wait, ok := q.next(now())
		if ok {
			begin(k, group)
			continue
		}
		timer.Reset(wait)
		select {
		case <-q.wake:
			woken()
		case <-q.freed:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
}

// dueHeap has the item with the earliest due time at its top.
type dueHeap []*item

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(a, b int) bool { return h[a].due.Before(h[b].due) }
func (h dueHeap) Swap(a, b int) {
	h[a], h[b] = h[b], h[a]
	h[a].position, h[b].position = a, b
}

// Push and Pop are container/heap's.
func (h *dueHeap) Push(x any) {
	i, _ := x.(*item)
	i.position = len(*h)
	*h = append(*h, i)
}

// Pop takes the last.
func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	i := (*h)[last]
	*h = (*h)[:last]
	return i
}
