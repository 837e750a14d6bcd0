package reconciler

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// capacity has the hosts that wait until fewer nodes are busy, and the number of hosts that are about to make a node
// busy.
type capacity struct {
	mu       sync.Mutex
	starting int
	waiting  []key                    // in the order in which they came
	starts   map[string]chan struct{} // of other conductor groups, one for each host that is about to be busy
}

// startsOf bounds the hosts of another conductor group that are about to be busy at a time: an eighth of the limit, so
// that leaders which do not answer leave capacity to others. Groups that have no leader are not among them.
func (m *capacity) startsOf(group string, limit int) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.starts == nil {
		m.starts = map[string]chan struct{}{}
	}
	if m.starts[group] == nil {
		m.starts[group] = make(chan struct{}, (limit+7)/8)
	}
	return m.starts[group]
}

// busy is how many nodes of all conductor groups are inspected, cleaned, deployed or deleted. A project's nodes keep no
// host waiting: none of them is a host's.
func (r *Reconciler) busy(ctx context.Context) (n int, err error) {
	for state, count := range r.engine.CountUnowned() {
		if host.BusyStates[state] {
			n += count
		}
	}
	if r.Groups == nil || r.ProvisioningLimit <= 0 {
		return n, nil
	}
	others, err := r.Groups.CountNodes(ctx, host.BusyStates)
	if err != nil {
		return 0, fmt.Errorf("count the nodes of other conductor groups: %w", err)
	}
	return n + others, nil
}

// ensureCapacity admits a decision, or decides again that the host must wait: several hosts may have seen the same free
// place. release is to be called once the decision has been carried out. The facts are the admitted decision's.
func (r *Reconciler) ensureCapacity(ctx context.Context, facts *host.Facts, d host.Decision) (admitted host.Decision,
	release func(), err error) {
	if r.ProvisioningLimit <= 0 || !d.Occupies() || host.BusyStates[facts.Node.ProvisionState] {
		return d, func() {}, nil
	}
	counts, leave, err := r.awaitStart(ctx, facts.Node.ConductorGroup)
	if err != nil {
		return d, nil, err
	}
	r.capacity.mu.Lock()
	defer r.capacity.mu.Unlock()
	busy, err := r.busy(ctx)
	if err != nil {
		leave()
		return d, nil, err
	}
	if facts.BusyNodes = busy + r.capacity.starting; facts.BusyNodes >= r.ProvisioningLimit {
		leave()
		return host.Decide(*facts), func() {}, nil
	}
	r.capacity.starting += counts
	return d, func() {
		r.capacity.mu.Lock()
		r.capacity.starting -= counts
		r.capacity.mu.Unlock()
		leave()
		r.queue.wakeUp()
	}, nil
}

// awaitStart waits until few hosts of a conductor group are about to be busy. It returns the number of nodes that this
// host counts for. A host that probes a silent leader may take long and counts for none: after a silence the limit may
// be exceeded by one node of the group.
func (r *Reconciler) awaitStart(ctx context.Context, group string) (counts int, leave func(), err error) {
	switch {
	case r.isOwn(group) || !r.Groups.Led(group):
		return 1, func() {}, nil
	case r.Groups.Silent(group):
		return 0, func() {}, nil
	}
	starts := r.capacity.startsOf(group, r.ProvisioningLimit)
	r.withoutWorker(group, func() {
		select {
		case starts <- struct{}{}:
		case <-ctx.Done():
			err = ctx.Err()
		}
	})
	return 1, func() { <-starts }, err
}

// delayed records whether a host waits for capacity. A host that is delayed although
// there is capacity has other reasons, and would be reconciled for ever.
func (m *capacity) delayed(k key, facts host.Facts, is hostapi.HostStatus) {
	waits := is.OperationalStatus == hostapi.StatusDelayed && facts.BusyNodes >= facts.ProvisioningLimit
	m.mu.Lock()
	defer m.mu.Unlock()
	switch at := slices.Index(m.waiting, k); {
	case waits && at < 0:
		m.waiting = append(m.waiting, k)
	case !waits && at >= 0:
		m.waiting = slices.Delete(m.waiting, at, at+1)
	}
}

// admitDelayed has as many of those that wait looked at as there is room for.
func (r *Reconciler) admitDelayed(ctx context.Context) {
	r.capacity.mu.Lock()
	free := 0
	if len(r.capacity.waiting) > 0 {
		busy, err := r.busy(ctx)
		if err == nil { // else each host is looked at when its own time comes
			free = max(0, r.ProvisioningLimit-busy-r.capacity.starting)
		}
	}
	next := slices.Clone(r.capacity.waiting[:min(free, len(r.capacity.waiting))])
	r.capacity.waiting = r.capacity.waiting[len(next):]
	r.capacity.mu.Unlock()
	r.enqueue(next...)
}
