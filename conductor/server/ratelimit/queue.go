package ratelimit

import "time"

// bucket is a caller's. It runs empty at a time that is later the fuller it is,
// since all buckets of a limiter are emptied at the same rate.
type bucket[K comparable] struct {
	of    K
	empty time.Time
	at    int // its index in the queue
}

// queue is a heap.Interface of buckets by the time they are empty.
type queue[K comparable] []*bucket[K]

func (q queue[K]) Len() int           { return len(q) }
func (q queue[K]) Less(i, j int) bool { return q[i].empty.Before(q[j].empty) }

func (q queue[K]) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].at, q[j].at = i, j
}

func (q *queue[K]) Push(x any) {
	b, _ := x.(*bucket[K]) // heap.Push is called with nothing else
	b.at = len(*q)
	*q = append(*q, b)
}

func (q *queue[K]) Pop() any {
	last := len(*q) - 1
	b := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return b
}
