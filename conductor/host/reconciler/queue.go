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

// queue is the hosts to be looked at, each once, when it is due. A host that is
// being looked at is given to nobody else meanwhile; what happens to it then is
// looked at afterwards.
type queue struct {
	mu    sync.Mutex
	items map[key]*item
	due   dueHeap
	wake  chan struct{}
}

type item struct {
	key       key
	due       time.Time
	position  int       // in the heap; -1 while it is being looked at
	requeueAt time.Time // when to look again, by what has happened meanwhile
	requeued  bool      // requeueAt is set
}

func newQueue() *queue { return &queue{items: map[key]*item{}, wake: make(chan struct{}, 1)} }

// add has a host looked at, at this time or before.
func (q *queue) add(k key, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i, ok := q.items[k]
	switch {
	case !ok:
		i = &item{key: k, due: at}
		q.items[k] = i
		heap.Push(&q.due, i)
	case i.position >= 0 && at.Before(i.due):
		i.due = at
		heap.Fix(&q.due, i.position)
	case i.position < 0 && (!i.requeued || at.Before(i.requeueAt)):
		i.requeueAt, i.requeued = at, true
	}
	q.wakeUp()
}

// wakeUp has serve look anew at what is due.
func (q *queue) wakeUp() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// next takes the first host that is due, or says how long there is none.
func (q *queue) next(now time.Time) (k key, wait time.Duration, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.due) == 0 {
		return key{}, time.Hour, false
	}
	if wait := q.due[0].due.Sub(now); wait > 0 {
		return key{}, wait, false
	}
	i, _ := heap.Pop(&q.due).(*item)
	i.position = -1
	return i.key, 0, true
}

// done gives a host back, to be looked at again then, or before if something has
// happened to it; never again with the zero time if nothing has.
func (q *queue) done(k key, requeueAt time.Time) {
	q.mu.Lock()
	i := q.items[k]
	delete(q.items, k)
	q.mu.Unlock()
	if i.requeued {
		q.add(k, i.requeueAt)
	}
	if !requeueAt.IsZero() {
		q.add(k, requeueAt)
	}
}

// serve hands out what is due until ctx ends. woken is called whenever
// something has happened.
func (q *queue) serve(ctx context.Context, work chan<- key, now func() time.Time, woken func()) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		k, wait, ok := q.next(now())
		if ok {
			select {
			case work <- k:
				continue
			case <-ctx.Done():
				return
			}
		}
		timer.Reset(wait)
		select {
		case <-q.wake:
			woken()
		case <-timer.C:
		case <-ctx.Done():
			return
		}
	}
}

// dueHeap has what is due first at its top.
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
