package records

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// An allocation that waits for a node is in the state allocating. If a conductor dies at work, the next look finds its
// allocations. Two looks at a time do no harm: node and allocation are saved in one change, which is refused if either
// has changed since it was read. So each leader of a cluster looks for nodes of its group. Only the leader of the
// default group decides that there is no node.

const (
	allocatePatience = 10 * time.Second // how long nodes may be reserved before that is the answer
	allocateSoon     = time.Second      // until the next look, when something was left
	allocateIdle     = time.Minute      // until the next look, for allocations that another conductor has left
	allocatePage     = 1000             // nodes that are read at a time
	lookTime         = 5 * time.Second  // after which a look begins anew
	allocateTries    = 30               // looks at an allocation that fail, until it is set aside
)

// lastWord reports whether this conductor says that an allocation has no node.
func (e *Records) lastWord() bool { return e.Group == nil || *e.Group == "" }

// Run gives nodes to allocations, until ctx ends.
func (e *Records) Run(ctx context.Context) {
	e.AwaitResume(ctx)
	failed := map[string]int{}
	core.Repeat(ctx, e.wakeAllocate, func(ctx context.Context) (next time.Duration) {
		next, failed = e.allocate(ctx, failed)
		return next
	})
}

// allocate processes every waiting allocation, and returns the time until the next look. failed counts, by UUID, the
// looks in a row that ended with an error; the result has these counts after this look.
func (e *Records) allocate(ctx context.Context, failed map[string]int) (next time.Duration, still map[string]int) {
	waiting, err := e.Store.Catalogs().Allocations.List(ctx, "state", string(node.Allocating))
	if err = e.Readable(err); err != nil {
		if ctx.Err() == nil {
			e.Log.Error("allocations cannot be read; tried again in a second", "err", err)
		}
		return allocateSoon, failed
	}
	still = map[string]int{}
	l := &look{free: map[string][]*node.Node{}, vain: map[string]*plan.Search{}}
	if next = allocateIdle; !e.lastWord() { // others take allocations in
		next = allocateSoon
	}
	began := time.Now()
	for i, a := range inTurn(waiting) {
		if time.Since(began) > lookTime { // allocations that came meanwhile have their turn, too
			for _, left := range waiting[i:] {
				still[left.UUID] = failed[left.UUID]
			}
			return 0, still
		}
		done, err := e.allocateOne(ctx, a, l)
		if err != nil && ctx.Err() == nil {
			still[a.UUID] = failed[a.UUID] + 1
			done = e.unprocessed(ctx, a, still[a.UUID], err)
		}
		if !done {
			next = allocateSoon
		}
	}
	return next, still
}

// inTurn sorts allocations: one of each project, then the next of each. A project that asks for a thousand nodes does
// not delay the others.
func inTurn(waiting []node.Allocation) []node.Allocation {
	nth, of := map[string]int{}, map[string]int{}
	for _, a := range waiting {
		nth[a.UUID] = of[a.Owner]
		of[a.Owner]++
	}
	slices.SortStableFunc(waiting, func(a, b node.Allocation) int { return cmp.Compare(nth[a.UUID], nth[b.UUID]) })
	return waiting
}

// unprocessed handles an allocation that could not be processed, for the nth time in a row. It is tried again each
// second for a while, then ends in error with the reason. If that cannot be saved either, the look of each minute tries
// again. done is as for allocateOne.
func (e *Records) unprocessed(ctx context.Context, a node.Allocation, nth int, why error) (done bool) {
	if nth == 1 {
		e.Log.Error("allocation not processed; it is tried again each second", "allocation", a.UUID, "tries",
			allocateTries, "err", why)
	}
	if nth < allocateTries || !e.lastWord() {
		return false
	}
	if _, err := e.fail(ctx, plan.Unallocable(a, why)); err != nil && nth == allocateTries && ctx.Err() == nil {
		e.Log.Error("allocation can neither be processed nor set aside; it is tried again each minute", "allocation",
			a.UUID, "err", err)
	}
	return true
}

// look is one look at all waiting allocations. It keeps the nodes that it has read: a thousand allocations at once read
// them once.
type look struct {
	free map[string][]*node.Node // by class: the nodes without an allocation, as this look has read or left them
	vain map[string]*plan.Search // by the wishes of an allocation: searches that found no node
}

// nodes reads the nodes of a class that may suit.
func (l *look) nodes(ctx context.Context, e *Records, class string) ([]*node.Node, error) {
	if nodes, ok := l.free[class]; ok {
		return nodes, nil
	}
	state, no := node.Available, false
	nodes, err := e.Store.Nodes(ctx, node.Query{Equal: map[string]string{"resource_class": class},
		Is: map[string]bool{"maintenance": false}, ProvisionState: &state, Associated: &no, ConductorGroup: e.Group})
	if err = e.Readable(err); err != nil {
		return nil, err
	}
	l.free[class] = make([]*node.Node, len(nodes))
	for i := range nodes {
		l.free[class][i] = &nodes[i]
	}
	return l.free[class], nil
}

// search counts all nodes that might have suited an allocation.
func (l *look) search(ctx context.Context, e *Records, a *node.Allocation) (*plan.Search, error) {
	wish := fmt.Sprintf("%q", []any{a.ResourceClass, a.Owner, a.Traits, a.CandidateNodes})
	if known := l.vain[wish]; known != nil {
		return known, nil
	}
	found := &plan.Search{}
	q := node.Query{Equal: map[string]string{"resource_class": a.ResourceClass}, WithChildren: true, Limit: allocatePage}
	if len(a.CandidateNodes) > 0 {
		q.Equal, q.UUIDs = nil, a.CandidateNodes
	}
	if err := e.EachNode(ctx, q, func(n *node.Node) { found.Look(a, n) }); err != nil {
		return nil, err
	}
	if found.Suitable() == 0 {
		l.vain[wish] = found
	}
	return found, nil
}

// allocateOne gives a node to an allocation, or the reason why there is none. done is false while the allocation has to
// wait.
func (e *Records) allocateOne(ctx context.Context, a node.Allocation, l *look) (done bool, err error) {
	nodes, err := l.nodes(ctx, e, a.ResourceClass)
	if err != nil {
		return false, err
	}
	busy := 0
	for _, n := range plan.Candidates(&a, nodes, rand.Shuffle) {
		switch given, err := e.give(ctx, a, n); {
		case errors.Is(err, errReserved):
			busy++
		case given || err != nil:
			return given, err
		}
	}
	if !e.lastWord() {
		return false, nil
	}
	return e.allocateNone(ctx, a, l, busy)
}

// errReserved: an operation on the node is under way.
var errReserved = errors.New("the node is reserved")

// give gives a node to an allocation, and updates n to the saved node. If node or allocation changed meanwhile, it
// reads them again. given is false for a node that no longer suits. It is true also for an allocation that needs no
// node any more.
func (e *Records) give(ctx context.Context, a node.Allocation, n *node.Node) (given bool, err error) {
	for range core.MaxTries {
		if plan.Misfit(&a, n) != "" {
			return false, nil
		}
		holder, err := e.Reserved(ctx, n.UUID)
		if err != nil {
			return false, err
		}
		if holder != "" {
			return false, errReserved
		}
		bound, taken := plan.Assign(a, *n)
		saved, err := e.Commit(ctx, node.Change{Save: &taken, PutAllocation: &bound})
		switch {
		case err == nil:
			*n = saved
			e.Log.Info("allocation has its node", "allocation", a.UUID, "name", a.Name, "node", saved.UUID)
			return true, nil
		case errors.Is(err, node.ErrConflict): // the UUID is another node's instance: for good
			return e.fail(ctx, plan.Unallocable(a, err))
		case !errors.Is(err, node.ErrStale) && !errors.Is(err, node.ErrNotFound):
			return false, err
		}
		if a, err = e.Store.Catalogs().Allocations.Find(ctx, a.UUID); errors.Is(err, node.ErrNotFound) || err == nil &&
			a.State != node.Allocating {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if *n, err = e.Store.Node(ctx, n.UUID); errors.Is(err, node.ErrNotFound) {
			return false, nil // and n, which has become empty, suits no one
		}
		if err != nil {
			return false, err
		}
	}
	return false, errReserved
}

// allocateNone gives an allocation the reason why it has no node. It waits as long as a node may soon be free.
func (e *Records) allocateNone(ctx context.Context, a node.Allocation, l *look, busy int) (done bool, err error) {
	search, err := l.search(ctx, e, &a)
	if errors.Is(err, node.ErrNotFound) { // a node was deleted between two pages
		return false, nil
	}
	if err != nil {
		return false, err
	}
	since := a.CreatedAt
	if e.Started.After(since) {
		since = e.Started
	}
	if search.Suitable() > 0 && e.Now().Sub(since) < allocatePatience {
		return false, nil
	}
	return e.fail(ctx, search.InVain(a, busy))
}

// fail saves an allocation that has no node. It is not done when the allocation
// has become another.
func (e *Records) fail(ctx context.Context, a node.Allocation) (done bool, err error) {
	now := e.Now()
	a.UpdatedAt = &now
	_, err = e.kept().Allocations.Save(ctx, a)
	switch {
	case err == nil:
		e.Log.Warn("allocation has no node", "allocation", a.UUID, "name", a.Name, "err", a.LastError)
		return true, nil
	case errors.Is(err, node.ErrNotFound):
		return true, nil
	case errors.Is(err, node.ErrStale):
		return false, nil
	}
	return false, err
}
