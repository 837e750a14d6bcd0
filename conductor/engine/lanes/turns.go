package lanes

import (
	"cmp"
	"slices"
)

// turns is work that takes turns. Every branch has a list of branches that take turns
// themselves, or, as a leaf, a list of work in order of time.
type turns struct {
	name  string
	order []*turns // those that have work, the next one first
	by    map[string]*turns
	queue []*entry // of a leaf, by time
}

// path is the names of the branches that lead to the leaf of a piece of work.
func (w *Work) path() []string { return []string{w.Project, w.Kind, w.Peer} }

// byTime orders work by the time it fell due, and by the time it was put.
func byTime(a, b *entry) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.number, b.number)) }

// add puts work at the leaf that path leads to. A branch that had no work comes last in turn.
func (t *turns) add(path []string, e *entry) {
	if len(path) == 0 {
		i, _ := slices.BinarySearchFunc(t.queue, e, byTime)
		t.queue = slices.Insert(t.queue, i, e)
		return
	}
	next := t.by[path[0]]
	if next == nil {
		next = &turns{name: path[0]}
		if t.by == nil {
			t.by = map[string]*turns{}
		}
		t.by[path[0]] = next
		t.order = append(t.order, next)
	}
	next.add(path[1:], e)
}

// empty reports whether nothing waits.
func (t *turns) empty() bool { return len(t.order) == 0 && len(t.queue) == 0 }

// take removes the next work in turn, nil if there is none. The branches it came from go to the end of their lists.
func (t *turns) take() *entry {
	if len(t.queue) > 0 {
		e := t.queue[0]
		t.queue = slices.Delete(t.queue, 0, 1)
		return e
	}
	if len(t.order) == 0 {
		return nil
	}
	next := t.order[0]
	t.order = slices.Delete(t.order, 0, 1)
	e := next.take()
	if next.empty() {
		delete(t.by, next.name)
	} else {
		t.order = append(t.order, next)
	}
	return e
}

// drop removes work from the leaf that path leads to.
func (t *turns) drop(path []string, e *entry) {
	if len(path) == 0 {
		if i, found := slices.BinarySearchFunc(t.queue, e, byTime); found {
			t.queue = slices.Delete(t.queue, i, i+1)
		}
		return
	}
	next := t.by[path[0]]
	if next == nil {
		return
	}
	next.drop(path[1:], e)
	if next.empty() {
		delete(t.by, next.name)
		t.order = slices.DeleteFunc(t.order, func(o *turns) bool { return o == next })
	}
}
